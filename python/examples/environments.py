# %% [markdown]
# # Many environments
#
# A gripper of two plates learns nothing here, but it could: `standoff.gym` has vector environments of gymnasium
# (`pip install gymnasium`), all of whose members are simulated in this process, in parallel.

# %%
import subprocess
import sys

import numpy as np

from standoff.gym import Lift

environment = Lift(8, threads=2)
observation, _ = environment.reset(seed=1)
print(environment.batch)

# %% [markdown]
# A simple policy: close while the left plate feels less than 2 N, then rise.

# %%
worth = np.zeros(8)
for step in range(50):
    feels = np.abs(observation[:, 8:9]) > 2
    action = np.where(feels, [0.0, 1.0], [0.5, 0.0]).astype(np.float32)
    observation, reward, terminated, truncated, info = environment.step(action)
    worth += reward
    if terminated.all():
        break
print(f"lifted by {np.round(50 * worth, 1)} mm in {step + 1} steps")
assert terminated.all() and not info["failed"].any() and (worth >= 1).all()
environment.close()

# %% [markdown]
# How many steps of environments a second are done, with random actions, and what each costs: of batches on two threads, and
# of two processes with one environment each.

# %%
STEPS = 40  # of each environment
MEASURE = f"""
import sys, time
from standoff.gym import Lift
n, threads = int(sys.argv[1]), int(sys.argv[2])
environments = Lift(n, threads=threads)
environments.reset(seed=1)
environments.action_space.seed(1)
wall, processor = time.perf_counter(), time.process_time()
for _ in range({STEPS}):
    environments.step(environments.action_space.sample())
print({STEPS} * n / (time.perf_counter() - wall), (time.process_time() - processor) / ({STEPS} * n))
"""


def measure(n: int, threads: int, processes: int) -> tuple[float, float]:
    """Steps per second of all processes, and processor time of a step, s. Where an episode ends, the next one begins."""
    command = [sys.executable, "-c", MEASURE, str(n), str(threads)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(processes)]
    told = np.array([[float(word) for word in process.communicate()[0].split()] for process in running])
    return float(told[:, 0].sum()), float(told[:, 1].mean())


print("| | steps/s | processor time of a step, ms |")
print("|---|---|---|")
for n, threads, processes in ((1, 2, 1), (16, 2, 1), (64, 2, 1), (1, 1, 2)):
    rate, cost = measure(n, threads, processes)
    of = f"{n} in one process, 2 threads" if processes == 1 else "1 in each of 2 processes"
    print(f"| {of} | {rate:.0f} | {1000 * cost:.2f} |")
