"""A solver made ready: what a run needs of a system and a method is read, checked and looked up once."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from ._runs import CompiledRun, ScipyRun, Wish, step_size
from .actions.action import POINT_TOLERANCE, Action
from .core import march
from .core.arguments import as_real, count, entries, meant, numbers, real_array
from .core.ensemble import Ensemble
from .core.jit import ENABLED, Bound, Loop
from .core.kernels import Kernel
from .events import Watcher, read_events, try_events
from .methods import Method, Plan, get, methods
from .methods.classical import DOP853, RK45
from .solution import Solution
from .step_size import StepControl, first_step, split_options
from .systems import ActionSystem, System
from .systems.system import settled

__all__ = ["Solver", "prepare"]

TOLERANCES = {"rtol": 1e-6, "atol": 1e-9}  # where none is given, for a run or for a part
_SHORTEST = 1e-12  # of a span beside its times: some thousands of times lie inside it
# Keywords of other libraries, and where what they do is found here.
_SOLVED = "call the solution at any times: sol = solve(...), then sol(t)"
_ELSEWHERE = {
    **dict.fromkeys(("dt", "step", "step_size", "stepsize", "timestep"), "the step is h"),
    **dict.fromkeys(("t_eval", "dense_output", "saveat"), _SOLVED),
    **dict.fromkeys(("p", "params", "args"), "parameters belong to the system"),
    "first_step": "the first step tried is h0",
    "tol": "the tolerances are rtol and atol",
    "callback": "functions to watch are events",
}
_KEYWORDS = (
    *("method", "h", "rtol", "atol", "save_every", "max_steps", "progress", "events", "action"),
    *("h0", "max_step", "controller", "safety", "factor_limits", "error_norm"),
)

_USUAL = StepControl()
_SMALL = 512  # numbers of a state that is kept only to save looking at it again
_MOST_FREE = 4  # loops whose arrays are kept for later runs


class Solver:
    """A system and a method made ready by `lielab.prepare`; a `run` costs some ten microseconds beyond its steps.

    `system`, `method` (a `Method`) and `h` (s, None: adaptive) are what it was made of. It never changes, and may be
    run from several threads at once: each run has work arrays of its own. A copy is the solver itself; other processes
    prepare it for themselves.
    """

    def __init__(
        self,
        system: System,
        method: str | Method,
        *,
        h: Any,
        rtol: Any,
        atol: Any,
        max_steps: int,
        action: str | None,
        options: Mapping[str, Any],
    ) -> None:
        self.method = chosen = get(method)
        if not isinstance(system, System):
            raise ValueError(
                f"system must be a lielab System, got {type(system).__name__}; see lielab.systems"
            )
        self._asked = {"h": h, "rtol": rtol, "atol": atol, "max_steps": max_steps, "action": action}
        self._asked["options"] = options
        self.system, self.dim = system, system.dim
        self.control, self._options = _read_options(chosen, h, options) if options else (_USUAL, {})
        self.name, self.formulation, self.home = _choose(system, chosen, action)
        self._quick = _checked_by(self.home)
        self.rtol, self.atol = _read_tolerances(system, rtol, atol)
        self.max_steps = count("max_steps", max_steps)
        self.scipy = chosen in (RK45, DOP853)
        if h is not None and self.scipy:
            raise ValueError(
                f"{chosen.name} chooses its steps itself, got h={h!r}; leave h out or use 'RK4'"
            )
        if h is None and not chosen.embedded:
            raise ValueError(f"{chosen.name} has no embedded pair to choose the step; give h")
        self.h = None if h is None else step_size(h)
        self.largest_tolerances, self.entrywise = self._by_entry()
        self.seconds = -1.0  # what a call of the field takes; negative: not tried yet
        self._start, self._plan, self._loop = np.empty(0), None, None  # type: Any, Any, Any
        self.state = np.empty(0)  # of a march that has not moved
        self._free: list[Bound] = []  # loops whose runs are over
        self._fresh = True  # no run has begun
        self._seen = b""  # a state that was found on the manifold
        self._zeros = np.zeros(self.dim)
        self.key: tuple | None = None  # by which `solver_of` finds it again

    def __repr__(self) -> str:
        steps = "adaptive" if self.h is None else f"h = {self.h:g}"
        return f"<Solver {self.method.name} of {type(self.system).__name__}, {steps}>"

    def __copy__(self) -> Solver:
        return self

    def __deepcopy__(self, memo: dict) -> Solver:
        return self

    def __reduce__(self) -> Any:
        return _again, (self.system, self.method, self._asked)

    def run(
        self,
        t_span: tuple[float, float],
        y0: Any = None,
        params: Any = None,
        *,
        save_every: int = 1,
        events: Any = None,
        progress: bool = False,
    ) -> Solution:
        """Integrate over t_span = (t0, t1) from y0 (dim,), the system's own datum by default: as `solve`, bit for bit.

        `params`: what is different of the system in this run, `{"inertia": (1, 2, 3)}` by the names of its fields, or
        the numbers p of a reader's own system. The `system` of the Solution has them. Those of an `ActionSystem` cost
        nothing, others as much as preparing anew. The other arguments are those of `solve`.

        Raises ValueError for bad arguments, naming the argument, the value and the remedy.
        """
        solver, system, p = (self, self.system, None) if params is None else self.having(params)
        t0, t1 = read_span(t_span)
        start, every = solver.read_state("y0", y0), count("save_every", save_every)
        if solver.seconds < 0.0:
            solver.make_ready(t0, start)
        elif solver.key is not None:  # in `solve` a field is tried where each run begins
            solver.seconds = _check_field(solver.formulation, t0, start)
        if events is None:
            run = solver.begin(Wish(t0, t1, start, every, p))
            solution = (_with_bar if progress else drive)(run, None, every, system)
            run.over()
            return solution
        watched = read_events(events)
        try_events(watched, t0, start)
        run = solver.begin(Wish(t0, t1, start, 1 if watched else every, p))
        run.watched = bool(watched)
        watcher = Watcher(watched, run.flow, t0, start, system.parts) if watched else None
        return (_with_bar if progress else drive)(run, watcher, every, system)

    def having(self, params: Any) -> tuple[Solver, System, np.ndarray | None]:
        """The solver and the system with these parameters (see `run`), and their p where the solver is this one."""
        system = self.system
        if params is None:
            return self, system, None
        named = params if isinstance(params, Mapping) else {"p": params}
        offered: tuple = fields(system) if is_dataclass(system) else ()
        known = [one.name for one in offered if one.init]
        unknown = [str(name) for name in named if name not in known]
        if unknown:
            wanted = f"fields of {type(system).__name__}, some of {', '.join(known) or 'none'}"
            raise ValueError(
                f"params must name {wanted}, as in params={{name: value}}; got "
                f"{', '.join(unknown) if named is params else repr(params)}"
            )
        if type(system) is ActionSystem and list(named) == ["p"]:
            p = numbers("params", named["p"])
            if len(p) != len(system.p):
                raise ValueError(
                    f"params must hold {len(system.p)} numbers, as p of the system does, got {len(p)}"
                )
            return self, _with_p(system, p), p
        other = replace(system, **named)  # type: ignore[type-var]
        return _again(other, self.method, self._asked), other, None

    def begin(self, wish: Wish) -> Any:
        """The run, no step of which has been taken."""
        return ScipyRun(self, wish) if self.scipy else CompiledRun(self, wish)

    def make_ready(self, t0: float, start: np.ndarray) -> None:
        """Try the field once, and look up all that its runs share."""
        if self.seconds >= 0.0:
            return
        seconds = _check_field(self.formulation, t0, start)
        if not self.scipy:
            plan = self._plan = self._new_plan(start)
            rotations = march.inside(plan.rotations, len(start))
            if self.h is None:
                self.control.check(plan, self.method.name)
            self._start = start
            self._loop = Bound(plan.loop, (plan.kernels, plan.data))
            self.state = self._new_state(plan, rotations)
            if self.key is not None:
                self._keep(plan)
        self.seconds = seconds

    def _keep(self, plan: Plan) -> None:
        """Leave it with the system, unless it is large or its plan may belong to this start."""
        if plan.extras is not None or plan.fractions or not isinstance(plan.loop, Loop):
            return
        held = (*plan.data, plan.params, self._start)
        if sum(x.nbytes for x in held if isinstance(x, np.ndarray)) > _LARGEST_KEPT:
            return
        readers = [x for x in plan.kernels if isinstance(x, Kernel) and not x.ours]
        kept = self, [(kernel, kernel.into) for kernel in readers]
        with _keeping:
            known = vars(self.system)[_KEPT]
            if self.key in known:  # not more than there were
                known[self.key] = kept

    def is_current(self, readers: list[tuple[Kernel, Any]]) -> bool:
        """Whether the system, and readers' kernels of its action, mean what they did when it was made ready."""
        action = self._asked["action"]
        if action is None:
            offered = self.system.formulations.get(self.name)
        else:
            offered = self.system.actions.get(action)
        same = offered is self.formulation
        return same and all(kernel.into is code for kernel, code in readers)

    def _new_state(self, plan: Plan, rotations: tuple[tuple[int, int], ...]) -> np.ndarray:
        """The state of a march that has not moved, but for its span."""
        limit, steps = self.max_steps, 0 if self.h is None else 2
        given = plan.fractions, rotations, self.entrywise
        state = march.new_run(0.0, 1.0, 1.0, steps, 1, limit, *given)
        state[march.RTOL], state[march.ATOL] = self.largest_tolerances
        if self.h is None:
            self.control.write(state, plan)
            if self.control.h0 is None:
                state[march.NFEV] = 2  # spent on the first step size
        return state

    def _new_plan(self, start: np.ndarray) -> Plan:
        return self.method.prepare(self.formulation, start, **self._options)

    @property
    def structured(self) -> bool:
        """Whether the method refuses a shortened last step."""
        return self._plan is not None and self._plan.structured

    @property
    def goes_on(self) -> bool:
        """Whether a state suffices to go on from, so that there are values between the steps."""
        return self._plan is None or self._plan.restarts

    @property
    def shows_more(self) -> bool:
        """Whether a Solution shows more than the states, such as multipliers."""
        return self._plan is not None and self._plan.extras is not None

    @property
    def plan(self) -> Plan:
        """What it was made ready as."""
        return self._plan

    def ensemble(self) -> Ensemble | None:
        """The loop over many runs, which needs no Python; None where each run is to be done by itself."""
        plan = self._plan
        if not ENABLED or self.scipy or plan.extras is not None or not isinstance(plan.loop, Loop):
            return None
        codes = [getattr(kernel, "into", kernel) for kernel in plan.kernels]
        if any(getattr(code, "calls_python", False) for code in codes):
            return None  # it takes Python's lock in each step
        return Ensemble(plan.loop, self._loop)

    def fresh(self) -> tuple[Plan, Bound]:
        """The plan and its loop, with work arrays of their own."""
        if self._plan.extras is None:
            if self._fresh:  # there may be no other run
                self._fresh = False
                return self._plan, self._loop.copied()
            try:
                loop = self._free.pop()
            except IndexError:
                return self._plan, self._loop.renewable()
            loop.renew()
            return self._plan, loop
        # What it shows besides the state is read from its own arrays.
        plan = self._new_plan(self._start)
        return plan, Bound(plan.loop, (plan.kernels, plan.data))

    def give_back(self, loop: Bound) -> Bound:
        """A loop whose run is over serves the next one; what may be copied in its place."""
        if loop.memory is not None and len(self._free) < _MOST_FREE:
            self._free.append(loop)
        return self._loop

    def contains(self, states: np.ndarray) -> bool:
        """Whether finite states (n, dim) are seen to be on the manifold at one look; False says nothing."""
        if self._quick is None or not np.isfinite(states).all():
            return False
        return bool(np.all(self._quick.defect(states) <= POINT_TOLERANCE))

    def _holds(self, state: np.ndarray) -> bool:
        """The same for one state (dim,). One that was found there is known again."""
        mine = state.tobytes() if self.dim <= _SMALL else b""
        if mine and mine == self._seen:
            return True
        # Zero times a number that is not finite is not zero, nor is a sum with it.
        if self._quick is None or state.dot(self._zeros) != 0.0:
            return False
        if not self._quick.defect(state) <= POINT_TOLERANCE:
            return False
        if _ours(self._quick.distance):
            self._seen = mine
        return True

    def given(self, p: np.ndarray | None) -> Any:
        """The formulation with these numbers p, None for those of the system."""
        return self.formulation if p is None else replace(self.formulation, params=p)

    def first_step(self, wish: Wish) -> float:
        """The first step of an adaptive run."""
        step = self.control.h0
        if step is None:
            t0, t1, y0, _, p = wish
            order = self._plan.error_order
            step = first_step(self.given(p), t0, t1, y0, self.rtol, self.atol, order)
        return min(step, self.control.max_step)

    def _by_entry(self) -> tuple[tuple[float, float], tuple[np.ndarray, ...]]:
        """The largest rtol and atol; atol and rtol entry by entry where they differ and are looked at."""
        rtol, atol = self.rtol, self.atol
        if not isinstance(rtol, np.ndarray):
            return (rtol, atol), ()
        if self.h is None and not self.scipy and self.control.error_norm != "scaled":
            raise ValueError(
                f"rtol and atol by part need error_norm='scaled', got {self.control.error_norm!r}; "
                "give one number each"
            )
        return (rtol.max(), atol.max()), (() if self.h is not None else (atol, rtol))

    def read_state(self, name: str, y0: Any) -> np.ndarray:
        """The state y0 (dim,) as an array of its own, on the manifold; ValueError that names it where it is none."""
        system = self.system
        value = system.y0 if y0 is None else y0
        plain = type(value) is np.ndarray and value.dtype == float and value.shape == (self.dim,)
        if plain and self._holds(value):
            return value.copy()
        if isinstance(value, (str, Method)):
            method = value if isinstance(value, str) else value.name
            raise ValueError(
                f"{name} must be a state, got the method {method!r} in its place; write method={method!r}"
            )
        y = entries(name, system.pack(**value) if isinstance(value, Mapping) else value, self.dim)
        if y.shape != (self.dim,):
            got = y.shape if isinstance(value, (Mapping, tuple, list)) else np.shape(value)
            raise ValueError(
                f"{name} must have shape ({self.dim},), got {got}; the layout is {system.layout()}"
            )
        if not np.all(np.isfinite(y)):
            raise ValueError(f"{name} must be finite, got {y}")
        return settled(name, y, value, self.home, "system")


def prepare(
    system: System,
    method: str | Method = "RKMK54",
    *,
    h: float | None = None,
    rtol: Any = TOLERANCES["rtol"],
    atol: Any = TOLERANCES["atol"],
    max_steps: int = 10**8,
    action: str | None = None,
    **options: Any,
) -> Solver:
    """A solver made ready, for many short runs: `prepare(system, "RKMK4", h=0.01).run((0, 1), y0)`.

    The arguments are those of `solve`, which is this and one `run`. What they ask for is checked, compiled and looked
    up once; a run then costs some ten microseconds beyond its steps, adaptive ones thirty (`solve`, called again with
    the same system and arguments, little more, and with new ones several times that), and gives the same numbers bit
    for bit. Readers' functions are taken as they are now: prepare again after changing what they refer to.

    Raises ValueError for bad arguments, naming the argument, the value and the remedy.
    """
    asked = {"h": h, "rtol": rtol, "atol": atol, "max_steps": max_steps, "action": action}
    return _again(system, method, {**asked, "options": options})


_KEPT, _MOST_KEPT, _LARGEST_KEPT = "_kept_solvers", 4, 2**16  # of a system, and bytes of one
# What is equal where it is equal and of one type.
_PLAIN = frozenset((float, int, bool, str, type(None)))
_keeping = threading.Lock()


def solver_of(
    system: System, method: str | Method, asked: dict[str, Any], options: dict[str, Any]
) -> Solver:
    """A Solver, for one call of `solve`: one that an earlier call left with the system, where that would be the same.

    The second call with the same arguments leaves it.

    It would where the system still offers the very same formulation, which it makes anew when a reader's function means
    something else, and where no kernel of a reader's own action does.
    """
    chosen = get(method)
    given = (*asked.values(), *options.values())
    kinds = tuple(map(type, given))
    if not (isinstance(system, System) and _PLAIN.issuperset(kinds)):
        return Solver(system, chosen, **asked, options=options)
    key = (id(chosen), kinds, given, tuple(options))
    known = vars(system).get(_KEPT)
    if known is None:
        known = vars(system).setdefault(_KEPT, {})
    if key not in known:  # many a system is solved once
        with _keeping:
            while len(known) >= _MOST_KEPT:
                del known[next(iter(known))]
            known[key] = None
        return Solver(system, chosen, **asked, options=options)
    kept = known.get(key)
    if kept is not None:
        solver, compiled = kept
        if solver.system is system and solver.is_current(compiled):
            return solver
    solver = Solver(system, chosen, **asked, options=options)
    solver.key = key
    return solver


def _again(system: System, method: str | Method, asked: dict[str, Any]) -> Solver:
    solver = Solver(system, method, **asked)
    solver.make_ready(0.0, entries("y0", system.y0, solver.dim))
    return solver


def _with_p(system: ActionSystem, p: np.ndarray) -> ActionSystem:
    """The system with another p, without what was compiled of it for the old one."""
    new = object.__new__(ActionSystem)
    vars(new).update(system.__getstate__(), p=tuple(p.tolist()))
    return new


def _read_options(
    method: Method, h: Any, options: Mapping[str, Any]
) -> tuple[StepControl, dict[str, Any]]:
    """The settings of the step control, and the method's own options."""
    settings, options = split_options(options)
    unknown = sorted(set(options) - set(method.options))
    if unknown:
        takes = ", ".join(method.options) or "none"
        remedy = _ELSEWHERE.get(unknown[0]) or f"its options: {takes}"
        near = "" if unknown[0] in _ELSEWHERE else meant(unknown[0], {*method.options, *_KEYWORDS})
        raise ValueError(f"{method.name} has no option {unknown[0]!r}; {remedy}{near}")
    for name, value in options.items():
        if isinstance(value, np.ndarray) and value.ndim:
            raise ValueError(f"{name} must be one value, got {value!r}")
    if settings and h is not None:
        raise ValueError(
            f"{next(iter(settings))} controls adaptive steps, but h={h!r} fixes them; give one or the other"
        )
    if method in (RK45, DOP853) and set(settings) - {"h0", "max_step"}:
        raise ValueError(f"{method.name} takes h0 and max_step only; its controller is SciPy's")
    return (StepControl(**settings) if settings else _USUAL), options


def _choose(system: System, method: Method, action: str | None) -> tuple[str, Any, Any]:
    """Name of the formulation that the method needs, it, with the action asked for, and what states are checked by.

    That is the action asked for, else the system: a run of the lift leaves the manifold of the default, TS^2.
    """
    offered = system.formulations
    name = next((name for name in (method.needs, *method.also) if name in offered), "")
    if not name:
        fitting = [m.name for m in methods().values() if m.formulation(system)]
        wanted = " or ".join(map(repr, (method.needs, *method.also)))
        raise ValueError(
            f"{method.name} needs the formulation {wanted}, which {type(system).__name__} does not offer; "
            f"methods that fit: {', '.join(fitting)}"
        )
    if action is None:
        return name, offered[name], system
    if method.needs != "action":
        raise ValueError(f"action={action!r} is not for {method.name}, which moves by no action")
    if not isinstance(action, str) or action not in system.actions:
        known = ", ".join(map(repr, system.actions))
        wanted = f"must be one of {known}" if known else "is not to be chosen here, leave it out"
        raise ValueError(
            f"action of {type(system).__name__} {wanted}; got {action!r}{meant(action, system.actions)}"
        )
    chosen = system.actions[action]
    return name, chosen, chosen.action


def _ours(function: Any) -> bool:
    return (getattr(function, "__module__", None) or "").split(".")[0] == "lielab"


def _checked_by(home: Any) -> Action | None:
    """The action whose manifold is all that a state is checked for, None where there is more to it."""
    if isinstance(home, Action):
        return home
    if type(home).check is not System.check:
        return None
    usual = getattr(home.formulations.get("action"), "action", None)
    return usual if isinstance(usual, Action) else None


def drive(
    run: Any, watcher: Watcher | None, every: int, system: System, told: Callable | None = None
) -> Solution:
    """March in chunks until the end, which `told` hears of, as a fraction done, after each; what that raises ends it.

    An interrupt, and any other error on the way, carries the solution so far.
    """

    def finish(message: str = "") -> Solution:
        solution = run.solution(system, every, message)
        if watcher is not None:
            solution.t_events, solution.y_events = watcher.times(), watcher.states()
        if not solution.success:
            solution.message += system._doubt(solution.y[-1])
        return solution

    try:
        while run.status == march.RUNNING:
            run.chunk()
            if watcher is not None:
                watcher.look(run.ts[-1], run.ys[-1], run.hs[-1])
                if watcher.end is not None:
                    run.cut(*watcher.end)
            run.thin(every)
            if told is not None:
                told(run.fraction())
    except BaseException as error:
        message = f"stopped at t = {run.time():.6g} by {type(error).__name__}: {error}"
        run.thin(every)
        error.solution = finish(message)  # type: ignore[attr-defined]
        raise
    return finish()


def _with_bar(run: Any, watcher: Watcher | None, every: int, system: System) -> Solution:
    """The same with a progress bar."""
    from tqdm.auto import tqdm

    layout = "{l_bar}{bar}| {elapsed}<{remaining}"
    with tqdm(total=1.0, desc=run.method.name, bar_format=layout) as bar:
        return drive(run, watcher, every, system, lambda fraction: bar.update(fraction - bar.n))


def read_span(t_span: Any) -> tuple[float, float]:
    try:
        if type(t_span) is not tuple and isinstance(t_span, (Mapping, set)):
            raise TypeError
        t0, t1 = (as_real(x) for x in t_span)
    except (TypeError, ValueError):
        t0 = t1 = None
    if t0 is None or t1 is None:
        raise ValueError(f"t_span must be two numbers (t0, t1), got {t_span!r}")
    if not (math.isfinite(t0) and math.isfinite(t1)) or t0 == t1:
        raise ValueError(f"t_span must be two different finite times, got ({t0}, {t1})")
    if abs(t1 - t0) < _SHORTEST * max(abs(t0), abs(t1)):
        raise ValueError(
            f"t_span ({t0!r}, {t1!r}) is too short for times of that size, which rounding hardly tells apart; "
            "count the time from t0"
        )
    return t0, t1


def _read_tolerances(system: System, rtol: Any, atol: Any) -> tuple[Any, Any]:
    """rtol and atol: two numbers, or where one of them differs from entry to entry two arrays (dim,)."""
    if type(rtol) is type(atol) is float and 0.0 < rtol < math.inf and 0.0 < atol < math.inf:
        return rtol, atol
    given = {"rtol": rtol, "atol": atol}
    found = {name: _tolerance(system, name, value) for name, value in given.items()}
    if any(isinstance(value, np.ndarray) for value in found.values()):
        found = {name: np.broadcast_to(value, system.dim).copy() for name, value in found.items()}
    if np.any((found["rtol"] == 0.0) & (found["atol"] == 0.0)):
        raise ValueError("rtol and atol must not both be 0; no step could be accepted")
    return found["rtol"], found["atol"]


def _tolerance(system: System, name: str, value: Any) -> Any:
    number = as_real(value)
    if number is not None and 0.0 <= number < math.inf:
        return number
    if isinstance(value, Mapping):
        unknown = [str(part) for part in value if part not in dict(system.parts)]
        if unknown or not value:
            known = ", ".join(part for part, _ in system.parts[:12])
            raise ValueError(
                f"{name} by part must name some of {known}, got {', '.join(unknown) or 'none of them'}"
            )
        pieces = [np.full(shape, TOLERANCES[name]) for _, shape in system.parts]
        for (part, shape), piece in zip(system.parts, pieces, strict=True):
            if part in value:
                try:
                    piece[...] = np.broadcast_to(real_array(value[part]), shape)
                except (TypeError, ValueError):
                    raise ValueError(
                        f"{name} of {part} must be a number or an array {shape}, got {value[part]!r}"
                    ) from None
        array = np.concatenate([piece.ravel() for piece in pieces])
    else:
        try:
            array = real_array(value)
        except (TypeError, ValueError):
            array = np.empty(0)
    if number is not None or array.shape != (system.dim,):
        raise ValueError(
            f"{name} must be a non-negative number, got {value!r}; an array ({system.dim},) or part -> number does too"
        )
    if not (np.isfinite(array).all() and array.min() >= 0.0):
        raise ValueError(f"{name} must be finite and nowhere negative, got {value!r}")
    return array


def _check_field(formulation: Any, t0: float, y0: np.ndarray) -> float:
    """Call the field once: compiled code does not check lengths, so a wrong one must be found here.

    Returns the seconds that the call took, 0 where there is none to call.
    """
    action = getattr(formulation, "action", None)
    if action is None:
        return 0.0
    wanted = action.algebra_dim(len(y0))
    params = np.array(formulation.params, dtype=float, order="C")
    began = time.perf_counter()
    value = formulation.field(t0, y0.copy(), params)
    seconds = time.perf_counter() - began
    shape = value.shape if type(value) is np.ndarray else np.shape(value)
    if shape != (wanted,):  # a reader's System; ActionSystem looked when it was made
        raise ValueError(
            f"field must return {wanted} numbers (the algebra of {action.group}), got shape {shape}"
        )
    return seconds
