//! The thresholds of solver and step, in one table. Where a comment names no source, the value is our choice; it was chosen by what the
//! comment says, or because any value of that size does. What a user may change is a setting (`definition/settings.rs`) instead.

// Line search

/// Part of a gap that a step between surfaces keeps at least: 1 − c with c = 0.8 [Li 2020, App. D].
pub const KEEP_GAP: f64 = 0.2;

/// Part of a gap to a half-space that a step keeps at least: 1 − c with c = 0.9 [Li 2020, App. D].
pub const KEEP_PLANE_GAP: f64 = 0.1;

/// Halvings after which the line search gives up: a step of 2⁻⁶⁴ of the first is none.
pub const LINE_SEARCH_HALVINGS: usize = 64;

/// Trials of a line search at most after which loops of joints are closed. Our choice: the first one nearly always suffices.
pub const CLOSINGS: usize = 3;

/// Directions below this part of the largest coordinate are lost where they are added to it. If the potential
/// does not fall along such a one, the positions are the minimum as well as they can be written down, and the
/// step counts as taken.
pub const UNRESOLVED: f64 = 4.0 * f64::EPSILON;

/// Part of the slope at the start that may be left where round-off hides the decrease: 1 − 2δ with δ = 0.1
/// [Hager & Zhang 2005].
pub const SLOPE_LEFT: f64 = 0.8;

/// Rises up to this many times the round-off of the sum may be round-off of the positions, which is larger.
pub const HIDDEN: f64 = 100.0;

/// Angle by which a rigid body turns in an iteration at most, rad: half of a turn would take it through itself.
pub const MOST_TURN: f64 = 1.0;

/// Step lengths tried until nothing is in the way of rigid bodies that turn. Our choice: the second one nearly always fits.
pub const FITS: usize = 8;

/// Part of the distance from a limit of a joint to which a step towards it is cut; steps that leave half of that are taken in full. Our choice, that
/// of half-spaces.
pub const KEEP_LIMIT: f64 = 0.1;

/// Distance from a limit of a joint at which it begins to push, in terms of the range, of a radian, and of the radius of the smaller body,
/// whichever is least. Our choice: as the barrier distance of contact in terms of the scene.
pub const LIMIT_BEGIN: f64 = 1e-3;

// End of a minimisation

/// Multiple of the change of the gradient when all positions change in the last digit of their largest coordinate, below which a residual is
/// rounding. Our choice: the sum over the elements of a vertex loses a few digits more than one element.
pub const ROUNDING: f64 = 16.0;

/// Multiple of the tolerance that the resultant of the residuals on a body that nothing holds may be of what acts on it from outside. Our choice:
/// at the default tolerance what is missing in the sum of contact forces on a body is at most 0.3 % of what acts on it.
pub const RESULTANT: f64 = 30.0;

/// Consecutive iterations that move by less than `TINY` of the Newton direction before the
/// minimisation counts as stalled. Our choice: none of the scenes and tests has more than a few dozen
/// before it goes on.
pub const TINY_STEPS: usize = 200;

/// See [`TINY_STEPS`].
pub const TINY: f64 = 1e-8;

/// Consecutive iterations without a decrease above round-off, or of the direction, after which the minimum is reached to
/// working precision. Our choice: the gradient's own rounding may hide one or two decreases.
pub const ROUND_OFF_ITERATIONS: usize = 4;

/// Part of the smallest direction so far below which a direction counts as progress.
pub const SHRINKING: f64 = 0.5;

/// Part of the tolerance below which a direction counts as taken in full, whatever its step length: rounding
/// of positions is in sight.
pub const NEGLIGIBLE: f64 = 1e-3;

/// Iterations at most that go on because the Hessian is not positive definite, although all else says that the minimum is
/// reached. Our choice: an exact saddle, as of a column that is perfectly straight, is an equilibrium that no direction leaves.
pub const SADDLES: u32 = 10;

/// Curvature below which a direction leads out of a saddle, as part of that of the projected Hessian. Our choice: far above rounding.
pub const NEGATIVE: f64 = -1e-6;

/// Steps of Lanczos' method at most that look for it. Our choice: in pencils of the Hessian and the projected one ten nearly always suffice.
pub const LANCZOS_STEPS: usize = 30;

/// Residual of the curvature found, as part of it, below which the direction is good enough.
pub const RITZ_RESIDUAL: f64 = 0.1;

/// Residual below which a curvature that is positive counts as the least one. Our choice: the beginning has a part of each direction.
pub const RITZ_SETTLED: f64 = 1e-6;

/// The greatest length that is tried along it, as part of a body. Our choice: the iterations that follow go further if need be.
pub const ESCAPE: f64 = 1e-2;

/// How often it is halved for the first length.
pub const ESCAPE_LENGTHS: i32 = 24;

/// How often saddles are left in a minimisation at most. Our choice: a body that buckles passes one for each of its modes.
pub const ESCAPES: u32 = 20;

/// Part of the last direction below which the next one, by the same matrix, has to be at the end of a minimisation: the rest of a geometric
/// series with this ratio is as long as its last element.
pub const CONTRACTION: f64 = 0.5;

/// Part of the tolerance below which the next direction need not be short beside the last one. Our choice: a hundredth of the errors that
/// [`NEGLIGIBLE`] lets pass, close to the rounding of directions.
pub const IMPERCEPTIBLE: f64 = 1e-5;

/// Iterations at most that go on because of [`CONTRACTION`]. Our choice: a direction whose matrix was too stiff is followed by one or two
/// of the Hessian.
pub const SLOW_ENDS: u32 = 10;

// Linear systems

/// Raised diagonals that are tried before a linear system is given up: with ten times more at each try,
/// up to 1e-5 of the largest entry.
pub const REGULARISATIONS: usize = 8;

/// Iterations of conjugate gradients at most.
pub const CONJUGATE_GRADIENT_ITERATIONS: usize = 10_000;

/// Largest and first relative residual.
pub const LOOSEST: f64 = 1e-2;

/// Part of it to which directions are computed with a factor of the matrix, where residuals that small cost little. Our choice:
/// eight of thirteen scenes took as many Newton iterations as with exact directions, the others 0.87 to 1.06 times as many.
pub const FACTORISED: f64 = 1e-2;

/// γ of the second choice of [Eisenstat & Walker 1996].
pub const FORCING_GAMMA: f64 = 0.9;

// What saves iterations

/// Factor of the bound after a matrix that is not positive definite. Our choice, with the next two, by the iterations that equal errors take
/// on drapes, a tube and a mat.
pub const PROJECTION_LOWER: f64 = 0.3;

/// Factor of the bound after a matrix that is.
pub const PROJECTION_RAISE: f64 = 1.4;

/// Matrices that are tried before all summands are projected.
pub const PROJECTION_TRIES: usize = 2;

/// Part of the unknowns that may go on at most, for the others to rest: a restriction costs about as much as two iterations.
pub const SHARE_THAT_GOES_ON: f64 = 0.25;

/// Part of the tolerance below which a body's direction is so small that the body rests.
pub const RESTING: f64 = 0.5;

/// Multiple of the tolerance below which a whole step may have been the last but one, so that it is not worth while.
pub const NEARLY_SETTLED: f64 = 10.0;

/// How often bodies that something is in the way of are left out, and the others tried again.
pub const ADVANCE_TRIES: usize = 8;

/// Change of the velocities in the last step, as a part of them, up to which they are extrapolated. Our choice, by the errors of single steps: up to 0.5 and 1,
/// cloths that drape take more iterations to the same error.
pub const EXTRAPOLATED_CHANGE: f64 = 0.25;

/// Step lengths that an initial guess tries.
pub const START_LENGTHS: usize = 3;

// Prescribed motion

/// Part of a gap that the direct motion keeps at least. More than Newton steps keep: what stands still
/// has to get out of the way afterwards.
pub const KEEP_GAP_DIRECTLY: f64 = 0.5;

/// Halvings of the direct motion before it is left to the constraints altogether.
pub const DIRECT_HALVINGS: usize = 20;

/// Part of a strain limit that prescribed vertices may use when they are moved while the others stand still.
pub const USE_LIMIT: f64 = 0.9;

/// Progress at which the vertices are held where they are [Li 2020, suppl. E].
pub const ARRIVED: f64 = 0.999;

/// Progress above which multipliers are updated instead of the stiffness [Li 2020, suppl. Alg. 1].
pub const ENOUGH_PROGRESS: f64 = 0.99;

/// Stiffness κ_A at the start, and the largest one [Li 2020, suppl. E], 1.
pub const CONSTRAINT_STIFFNESS: [f64; 2] = [1e6, 1e8];

/// Least weight of the constraint on a prescribed vertex, as a part of the stiffness of the stiffest vertex. Our choice:
/// constraints begin with 1e6 times their weight, ten times that stiffness.
pub const LEAST_CONSTRAINT_WEIGHT: f64 = 1e-5;

/// Updates without noticeable progress after which a motion counts as blocked. Our choice: a multiplier
/// update of a motion that can go on gains more than `NOTICEABLE` long before.
pub const IDLE_UPDATES: usize = 60;

/// Progress that counts as such.
pub const NOTICEABLE: f64 = 1e-4;

/// Iterations in which the rest of the way hardly shrinks, after which constraints are tightened although the minimisation has not
/// settled. Our choice: a body that snaps through a hole takes thousands to settle, while all summands of its Hessian are projected.
pub const PATIENCE: usize = 100;

/// Iterations in which the rest of the way has to shrink to `SHRUNK` of itself. Our choice: at that rate the 10,000
/// iterations of a step, the default limit, would not even bring half of it.
pub const SLOW_ITERATIONS: usize = 1000;

/// See there.
pub const SHRUNK: f64 = 0.95;

// Stiffness of contact

/// How many times stiffer than the stiffest vertex a contact may be at half of d̂. Our choice: two such stiffnesses in one matrix leave ten
/// digits.
pub const HARDEST_CONTACT: f64 = 1e6;

/// How many times stiffer than the stiffest vertex a contact is at half of d̂ in the first quasi-static step, of which no load is known. Our choice:
/// neither is stiff beside the other, so that gaps are a part of d̂ whatever the load.
pub const FIRST_CONTACT: f64 = 0.1;

/// How many times the work of a change of speed by its own radius in a time step the stiffness of a rigid body is: strains are then about
/// its inverse. Our choice: below 1e-6, and eight digits are left beside the masses.
pub const RIGIDITY: f64 = 1e6;

/// The same at most, where heavy bodies may rest on a light one. Our choice: five digits are left beside its mass.
pub const MOST_RIGIDITY: f64 = 1e9;

/// How many times what all loads do along the diagonal of all that moves the stiffness of a rigid body is at least. Our choice: a small body that a force
/// acts on with a long lever is strained by 1e-6 (`standoff/tests/remote.rs`). A thousand times as stiff, rounding of its positions left 4e-3 of the
/// forces on it unbalanced.
pub const LOADED_RIGIDITY: f64 = 1e3;

/// How far a joint may be open at the end of a step, in terms of the radius of its smaller body. Our choice: a hundredth of how little rigid
/// bodies deform.
pub const JOINT_OPENING: f64 = 1e-8;

/// Updates of the multipliers of joints in a minimisation at most. Our choice: each lowers the opening by a factor of a thousand or more, unless joints
/// contradict each other.
pub const JOINT_UPDATES: usize = 30;

/// The time in which the displacement of a quasi-static step counts as a speed, s: the default time step.
pub const STATIC_TIME: f64 = 0.01;

// Barrier-free method

/// Solves of the first phase at most. Our choice: the contacts of the scenes in `scenes/stress` are found
/// by then.
pub const EXPLORE: usize = 30;

/// Gap, in terms of δ, below which x moves only by half of a displacement that contact bounds.
pub const THIN_GAP: f64 = 0.1;

/// An advance α below `STALLED` in `STALLED_ADVANCES` consecutive iterations makes the contacts stiffer and their
/// separation smaller [Zheng 2025, §5.2].
pub const STALLED: f64 = 1e-4;

/// See [`STALLED`].
pub const STALLED_ADVANCES: u32 = 50;

/// How often that may happen in a step: conditioning sets an end to it.
pub const STALLED_ROUNDS: u32 = 10;

/// Halvings of a line search: a step of 2⁻⁴⁰ of the first is none.
pub const ADVANCE_HALVINGS: usize = 40;

/// Iterations of the barrier-free method in a step after which all summands of the Hessian are projected. Our choice: steps that converge at all take
/// fewer as a rule.
pub const PROJECT_ALL: u64 = 200;

/// Solves at one state at most, each with the collisions of the one before among its constraints.
pub const COMPLETIONS: usize = 4;

/// Part of the speed at which multipliers were updated that the next update has to come below.
pub const UPDATE_REDUCTION: f64 = 0.3;

/// Distance of a loaded gap from its target, in terms of δ, that a step may end with at most.
pub const GAP_ERROR: f64 = 0.1;

/// Part of the distance of loaded gaps from their targets that an update of multipliers may leave; where more is left, contacts become stiffer by
/// [`STIFFENING`] [Bertsekas 1982, §2.2.5, with 0.25 and 4 to 10], as long as the digits of positions suffice for the forces.
pub const GAP_REDUCTION: f64 = 0.25;

/// See [`GAP_REDUCTION`].
pub const STIFFENING: f64 = 10.0;

/// How often in a step at most. Our choice: contacts a thousand times as stiff led to minima that were not found.
pub const STIFFENINGS: u32 = 2;

/// Ratio of the next direction to the last one at the end of a step at most: what follows is then 49 times as long as the last direction.
pub const MOST_LEFT: f64 = 0.98;

/// Updates of multipliers at minima after which a step may end whatever the gaps: where a contact is about
/// to slip off an edge, multipliers need not settle, and every minimum is an equilibrium of its forces.
pub const MULTIPLIER_UPDATES: u32 = 10;

/// Updates because minima penetrate after which contacts are made stiffer: multipliers that oscillate between
/// too little and too much settle at a larger stiffness.
pub const PENETRATIONS: u32 = 10;

/// Line searches without a step after which one step may raise L, and how often that may happen: closest
/// features change with a kink of the distance, from which no direction of the linearisation leads down. A
/// watchdog step [Chamberlain et al. 1982] leaves it.
pub const REFUSALS: u32 = 3;

/// See [`REFUSALS`].
pub const RISES: u32 = 10;

/// Step lengths below this are none.
pub const NO_STEP: f64 = 1e-6;

/// Solves after which x̂ is reset to x before each of them.
pub const RESET_ALWAYS: usize = 30;

/// Error of a linearised gap, in terms of δ, up to which it is kept while x reaches x̂.
pub const LINEARISATION: f64 = 0.1;

/// Newton steps of one solve at most: a solve ends with the first full one.
pub const SUBPROBLEM_ITERATIONS: usize = 20;

/// Part of the tolerance below which a step is not halved: the rounding of positions is in sight.
pub const INVISIBLE: f64 = 1e-3;

/// An advance α below this is small.
pub const SMALL_ADVANCE: f64 = 1e-2;

/// Consecutive small advances after which x̂ is reset to x.
pub const SMALL_ADVANCES: u32 = 5;

/// Semismooth Newton steps at most.
pub const SEMISMOOTH_STEPS: usize = 60;

/// First steps that may raise m.
pub const NONMONOTONE_STEPS: usize = 12;

/// Steps below this part of the tolerance, or of p, are none.
pub const SUBPROBLEM_ACCURACY: f64 = 0.1;

/// A shortened step looks that many times further for constraints that it is about to meet.
pub const LOOK_BEYOND: f64 = 2.0;

/// Trials for the length of a step.
pub const LENGTH_TRIALS: usize = 20;

/// Part of the slope at the start of a step that may be left at its end.
pub const SUBPROBLEM_SLOPE_LEFT: f64 = 0.1;

// Decomposed optimisation, projective dynamics and ADMM

/// The least first step length [Li 2020 thesis, Eq. 3.14].
pub const LEAST_START: f64 = 0.1;

/// Pairs that are remembered, m [Li 2020 thesis, §3.4.1].
pub const PAIRS: usize = 5;

/// Cosine between y and s below which a pair is refused: the potential is not convex enough there for an
/// update that stays positive definite.
pub const CURVATURE: f64 = 1e-12;

/// Part of the decrease that the slope promises that a step has to bring [Nocedal & Wright 2006, Eq. 3.4].
pub const DECREASE: f64 = 1e-4;

/// Iterations after which everything is computed again at the current iterate. Our choice: the scenes of
/// chapter 3 of [Li 2020 thesis] need fewer in a step; where energies diverge, as those of contact or of
/// elements that are nearly flat do, the Hessians of the step's start may no longer do.
pub const RENEWAL: usize = 40;

/// Ratio of a row's diagonal to that when its subdomain was factorised from which on it is factorised
/// again. Our choice.
pub const CHANGED_ROW: f64 = 2.0;

/// Consecutive iterations that change no position by more than its last digits, after which they may as well end.
pub const SETTLED_ITERATIONS: usize = 4;

/// Halvings of the straight line to an iterate that inverts elements.
pub const GLOBAL_HALVINGS: usize = 64;
