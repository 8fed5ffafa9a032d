//! The lines of the shape list: `shapes`, `shape`, `shapeMatrix`.

use crate::error::{Located, Problem};
use crate::language::{BoxLoad, BoxMotion, Matrix, Shape, ShapeOptions};
use crate::text::{Arguments, Text};
use standoff_linalg::Vec3;

/// Options of a shape line, for messages.
const OPTIONS: &str = "material, initVel, linearVelocity, angularVelocity, DBC, NBC and meshSeq";

/// Most copies of a matrix.
const MAX_COPIES: f64 = 100_000.0;

/// Shapes of one key, and the line whose trailing blank makes the reference repeat a condition.
pub(crate) type Block = (Vec<Shape>, Vec<usize>);

/// `shapes input n` and its n lines.
pub(crate) fn shapes(
    line: usize,
    arguments: &mut Arguments<'_>,
    text: &mut Text<'_>,
) -> Result<Block, Located> {
    input(arguments).map_err(|p| p.at(line))?;
    let count = arguments.count("the number of shapes").map_err(|p| p.at(line))?;
    let mut block = Block::default();
    for k in 0..count {
        let (number, first) = text.full_line().ok_or_else(|| {
            Problem::malformed(format!("'shapes' announces {count} shapes, only {k} follow"))
                .at(line)
        })?;
        let logical = LogicalLine::new(number, first, text);
        let (shape, repeats) = one(&logical).map_err(|p| p.at(number))?;
        if repeats {
            block.1.push(number);
        }
        block.0.push(shape);
    }
    Ok(block)
}

/// `shape input path`.
pub(crate) fn single(line: usize, arguments: &mut Arguments<'_>) -> Result<Shape, Problem> {
    input(arguments)?;
    Ok(Shape {
        line,
        file: arguments.required("the mesh file")?.to_owned(),
        translate: Vec3::zeros(),
        rotate: Vec3::zeros(),
        scale: Vec3::repeat(1.0),
        matrix: None,
        options: ShapeOptions::default(),
    })
}

/// `shapeMatrix input nx ny nz [x y z]` and its line.
pub(crate) fn matrix(
    line: usize,
    arguments: &mut Arguments<'_>,
    text: &mut Text<'_>,
) -> Result<Shape, Located> {
    let mut head = || -> Result<Matrix, Problem> {
        input(arguments)?;
        let mut counts = [0; 3];
        for count in &mut counts {
            *count = arguments.count("the number of copies")?;
        }
        if counts.map(f64::from).iter().product::<f64>() > MAX_COPIES {
            return Err(Problem::malformed(format!("more than {MAX_COPIES} copies")));
        }
        // without a base the reference reads undefined numbers; 0 is meant and observed
        let base = match arguments.optional_number()? {
            None => Vec3::zeros(),
            Some(x) => Vec3::new(x, arguments.number("y")?, arguments.number("z")?),
        };
        Ok(Matrix { counts, base })
    };
    let matrix = head().map_err(|p| p.at(line))?;
    let (number, first) = text
        .full_line()
        .ok_or_else(|| Problem::malformed("'shapeMatrix' lacks the line of its shape").at(line))?;
    let (mut shape, _) = one(&LogicalLine::new(number, first, text)).map_err(|p| p.at(number))?;
    let only_material =
        ShapeOptions { material: shape.options.material, ..ShapeOptions::default() };
    if shape.options != only_material {
        let what = "a shapeMatrix takes no option but material; use 'shapes' for others";
        return Err(Problem::malformed(what).at(number));
    }
    shape.matrix = Some(matrix);
    Ok(shape)
}

fn input(arguments: &mut Arguments<'_>) -> Result<(), Problem> {
    match arguments.required("the word 'input'")? {
        "input" => Ok(()),
        other => Err(Problem::unsupported(
            format!("the shape kind '{other}'"),
            "write the mesh to a file and use 'input'",
        )),
    }
}

/// A shape line with its continuations.
struct LogicalLine<'a> {
    number: usize,
    words: Vec<&'a str>,
    trailing_blank: bool,
}

impl<'a> LogicalLine<'a> {
    fn new(number: usize, first: &'a str, text: &mut Text<'a>) -> Self {
        let mut logical = Self { number, words: Vec::new(), trailing_blank: false };
        let mut line = first;
        while logical.add(line) {
            match text.line() {
                Some((_, next)) => line = next,
                None => break,
            }
        }
        logical
    }

    /// Adds a line; whether another one follows. A comment drops what comes after it, but not a
    /// stand-alone `\`.
    fn add(&mut self, line: &'a str) -> bool {
        let mut comment = false;
        self.trailing_blank = line.ends_with([' ', '\t']);
        for word in line.split_whitespace() {
            if word == "\\" {
                return true;
            }
            comment |= word.starts_with('#');
            if !comment {
                self.words.push(word);
            }
        }
        self.trailing_blank &= !comment;
        false
    }
}

/// Reads a shape line; whether its last condition is repeated.
fn one(line: &LogicalLine<'_>) -> Result<(Shape, bool), Problem> {
    let (file, rest) = line.words.split_first().map_or(("", &[][..]), |(f, rest)| (*f, rest));
    let mut arguments = Arguments::new(file, rest.iter().copied());
    let translate = arguments.vector("a number of its translation")?;
    let rotate = arguments.vector("a number of its rotation")?;
    let scale = arguments.vector("a number of its scale")?;
    let mut shape = Shape {
        line: line.number,
        file: file.to_owned(),
        translate,
        rotate,
        scale,
        matrix: None,
        options: ShapeOptions::default(),
    };
    let mut last = "";
    while let Some(option) = arguments.word() {
        read_option(option, &mut arguments, &mut shape.options)?;
        last = option;
    }
    let options = &mut shape.options;
    match last {
        "DBC" if line.trailing_blank => options.dirichlet.extend(options.dirichlet.last().copied()),
        "NBC" if line.trailing_blank => options.neumann.extend(options.neumann.last().copied()),
        _ => return Ok((shape, false)),
    }
    Ok((shape, true))
}

fn read_option(
    option: &str,
    arguments: &mut Arguments<'_>,
    options: &mut ShapeOptions,
) -> Result<(), Problem> {
    let mut vector = |what: &str| arguments.vector(&format!("a number of {option}: {what}"));
    match option {
        "material" => options.material = Some(vector("density, E and ν")?.into()),
        "initVel" => options.velocity = Some((vector("velocity")?, vector("angular velocity")?)),
        "linearVelocity" => options.linear = Some(vector("velocity")?),
        "angularVelocity" => options.angular = Some(vector("angular velocity")?),
        "DBC" => {
            let corners = [vector("corner")?, vector("corner")?];
            let (linear, angular) = (vector("velocity")?, vector("angular velocity")?);
            let range = range(arguments);
            options.dirichlet.push(BoxMotion { corners, linear, angular, range });
        }
        "NBC" => {
            let corners = [vector("corner")?, vector("corner")?];
            let acceleration = vector("acceleration")?;
            options.neumann.push(BoxLoad { corners, acceleration, range: range(arguments) });
        }
        "meshSeq" => {
            options.sequence = Some(arguments.required("the folder of meshSeq")?.to_owned())
        }
        other => {
            let what = format!("unknown option '{other}'; options are {OPTIONS}");
            return Err(Problem::Malformed(what));
        }
    }
    Ok(())
}

/// `[t0 [t1]]`.
fn range(arguments: &mut Arguments<'_>) -> (f64, f64) {
    match arguments.number_if_any() {
        None => (0.0, f64::INFINITY),
        Some(t0) => (t0, arguments.number_if_any().unwrap_or(f64::INFINITY)),
    }
}
