"""Lie group integrators: groups, actions, methods, mechanical systems, and a way to run them.

    import lielab
    from lielab.systems import FreeRigidBody

    sol = lielab.solve(FreeRigidBody(inertia=(1, 2, 3)), (0, 10), method="RKMK4", h=0.01)
    sol.t, sol.mu, sol.energy(), sol.defect()

This is the companion of the book; it is distributed as `lielab-book` from its repository. SciPy, matplotlib
and ipywidgets are imported where they are used.
"""

import sys as _sys
import typing as _typing
from importlib import import_module as _import_module
from importlib.metadata import PackageNotFoundError as _NotFound
from importlib.metadata import distribution as _distribution


def _refuse_namesake() -> None:
    """Another project on PyPI is called `lielab` and installs the same import name."""
    try:
        _distribution("lielab")
    except _NotFound:
        return
    raise ImportError(
        "the distribution 'lielab' from PyPI is another project and occupies the import name of this one "
        "('lielab-book'). Remove it with `pip uninstall lielab`, then reinstall this package from its "
        "repository with `pip install --force-reinstall`, since files of both lay in one folder; "
        "or keep the two in separate environments."
    )


_refuse_namesake()

from . import actions, systems, tableaus  # noqa: E402
from ._names import NAMES as _NAMES  # noqa: E402
from ._names import PublicNames as _PublicNames  # noqa: E402
from .core.travel import GroupModule  # noqa: E402
from .events import Event  # noqa: E402
from .excerpts import excerpt  # noqa: E402
from .groups import cotangent_so3, quaternions, se2, se3, so2, so3  # noqa: E402
from .groups.matrix_groups import matrix_group, special_linear, special_orthogonal, symplectic  # noqa: E402
from .groups.phi import phi_ad  # noqa: E402
from .groups.products import direct_tso3, power, product  # noqa: E402
from .groups.retractions import retraction  # noqa: E402
from .groups.rn import rn  # noqa: E402
from .many import Solutions, solve_many  # noqa: E402
from .methods import methods  # noqa: E402
from .methods.commutator_free import commutator_free  # noqa: E402
from .methods.composition import adjoint, compose, symmetrised  # noqa: E402
from .methods.implicit_rkmk import implicit_rkmk  # noqa: E402
from .methods.rkmk import rkmk  # noqa: E402
from .prepared import Solver, prepare  # noqa: E402
from .solve import Solution, solve  # noqa: E402
from .splines import Spline, b_spline, cubic_spline  # noqa: E402
from .sweep import SweepResult, sweep  # noqa: E402
from .systems import System  # noqa: E402

_sys.meta_path.insert(0, _PublicNames())
for _group in (cotangent_so3, quaternions, se2, se3, so2, so3):
    _group.__class__ = GroupModule  # so that it, and all that holds it, is copied and pickled

__version__ = "0.1.0"
__all__ = [
    "Event",
    "Solution",
    "Solutions",
    "Solver",
    "Spline",
    "SweepResult",
    "System",
    "actions",
    "adjoint",
    "b_spline",
    "commutator_free",
    "compose",
    "cotangent_so3",
    "cubic_spline",
    "diagnostics",
    "direct_tso3",
    "excerpt",
    "implicit_rkmk",
    "matrix_group",
    "methods",
    "phi_ad",
    "power",
    "prepare",
    "product",
    "quaternions",
    "retraction",
    "rkmk",
    "rn",
    "se2",
    "se3",
    "so2",
    "so3",
    "solve",
    "solve_many",
    "special_linear",
    "special_orthogonal",
    "sweep",
    "symmetrised",
    "symplectic",
    "systems",
    "tableaus",
    "warm",
]


def warm() -> None:
    """Compile what the book and the exercises use, so that later processes load it from the disk cache."""
    from ._warm import warm as run

    run()


if _typing.TYPE_CHECKING:
    from . import animate as animate
    from . import diagnostics as diagnostics
    from . import explore as explore
    from . import figures as figures
    from . import grading as grading
    from . import plotting as plotting
    from . import quadrotor_figures as quadrotor_figures
    from . import sphere_figures as sphere_figures
    from . import testing as testing
else:

    def __getattr__(name: str) -> _typing.Any:
        full = f"{__name__}.{name}"
        if full in _NAMES or name in ("grading", "testing"):  # modules imported at first use
            return _import_module(full)
        raise AttributeError(f"module 'lielab' has no attribute {name!r}")
