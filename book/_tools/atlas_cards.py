r"""What the page "Atlas of methods" says that cannot be measured: of each method the formula, origin, chapter, source.

A formula has two or three lines; the letters are those of `LETTERS`. Every formula is written here once, as the docstrings and
the code of `lielab.methods` have it: where a paper prints another one, that is told in the corrections. `code` names
lines of the package by a text that stands in the first of them, as `lielab.excerpt` takes it.
"""

# ruff: noqa: E501  (a line of a formula stays one line)
from __future__ import annotations

from dataclasses import dataclass

INTRODUCTION = """\
# Atlas of methods

Every method of `lielab` on one page: first a table, then a card for each with its formula, its origin, what it keeps,
what a step costs, and the line of code that is the step. The numbers are measured, by one command
(`python -m benchmarks.atlas`); the page is made from them and from the list that `lielab.methods()` returns. For advice
rather than facts see [Which method when](which_method.ipynb).
"""

READING = """\
## What was measured

Most rows belong to one problem, **a rigid body with three different moments in a well**, which methods of nearly all kinds
can take; `SLGIKK` and `SphericalMidpoint` have problems of their own, which their cards name. A dash says that there is
nothing to measure: SciPy's methods choose their steps (here at the usual tolerances), and not every state space has a
form that is known. What methods for actions keep of a free body, the body's action keeps for them.

| column | what it says |
|---|---|
| measured | the lowest and the highest observed order, inside the asymptotic range, on the problem and on those of the nine of [RKMK in depth](rkmk.ipynb) on which the method runs |
| manifold | largest distance from it along a run of several hundred seconds; "yes" is rounding |
| symplectic, volume, symmetric | defects of one large step ({step} s), relative; "yes" below what differences and iterations reach |
| energy | the verdict over 10 000 s in the well, at $h = 0.125$ s, as in [What survives long times](long_times.ipynb), and the largest error relative to the energy at the start; "lost" where that is more than all of it |
| momentum | the vertical momentum of a heavy top over 200 s at $h = 0.15$ s: largest relative change |
| calls, exps | of a step: calls of the field (or torque, or Lagrangian), and exponentials or Cayley maps, those inside iterations too |
| largest step | the largest of a grid (ratio $\\sqrt 2$) up to which every run of 100 s ends with an energy error of at most an eighth |
{time}

{machine}
"""
TIME_ROW = (
    "| time | of a step, over that of `RK4` on the same problem, the two run in turn: the median |"
)
NO_TIMES = "**Times of a step are not measured yet**: they are taken on a machine that does nothing else, and none was free."

LETTERS = r"""
In the formulas $y_0$ becomes $y_1$ in a step $h$.

- **Actions:** $\exp(u)\cdot y$ moves the point $y$ by the algebra element $u$. The motion is $y' = f_M(t, y)$, the velocity
  that the algebra element $f(t, y)$ gives to the point. Stages are $Y_1 = y_0$, $k_i = f(t + c_i h, Y_i)$ unless said otherwise;
  $a_{ij}$, $b_i$, $c_i$ are a tableau's, and a hat marks the second method of a pair.
- **Rigid bodies:** attitude $R$, velocity $w$ and torque $\tau$ in the body, inertia $J$, $c = h/2$. The turn of the step is
  $R_1 = R F$, and $\tau_1$ is the torque there.
- **Cotangent bundles and variational methods:** momenta $\mu$, $p$; a Lagrangian $L(g, \xi)$ in left trivialisation, a
  discrete one $L_d$, forces $F_0$, $F_1$ at the two ends.
- **Compositions:** $\Phi_h$ is a step of the method in brackets.
"""


@dataclass(frozen=True)
class Card:
    """Lines of TeX; where the method comes from, with its year; chapters; excerpts (of, containing, lines)."""

    formula: tuple[str, ...]
    origin: str
    taught: tuple[str, ...]
    code: tuple[tuple[str, str, int], ...]
    note: str = ""


_CELLEDONI = "[Celledoni et al. (2021)](references.md#celledoni)"
_ORTOLAN = "[Ortolan (2011)](references.md#ortolan)"
_MK = "[Munthe-Kaas (1999)](references.md#munthekaas1999)"
_DP = "[Dormand and Prince (1980)](references.md#dormand1980)"
_HLW = "[Hairer, Lubich and Wanner (2006)](references.md#hairer2006)"

_METHODS = "lielab.methods."
_STAGE = (_METHODS + "rkmk", "combine(h, a, i, k, u)  # U_i", 2)
_DEXPINV = (_METHODS + "rkmk", "dexpinv(u, v, k[i])", 1)
_SERIES = (_METHODS + "rkmk", "bracket(u, v, turned)", 4)
_FLOW = (_METHODS + "commutator_free", "combine(h, rows, row, k, u)", 4)
_EXPLICIT, _FREE = "lielab.tableaus._explicit", "lielab.tableaus._commutator_free"
_IMPLICIT = "lielab.tableaus._implicit"
_GAUSS = (_METHODS + "implicit_rkmk", "stage_value(kernels, data, t + c[i] * h, y, p, g[i])", 1)
_BODY, _BALANCE = _METHODS + "rigid_body", _METHODS + "momentum_balance"
_NEWMARK = (
    (_METHODS + "newmark", "x = start + e * a1", 3),
    (_METHODS + "newmark", "return J * a1 - cross(J * w1, w1) - tau", 1),
)

_RKMK = r"k_i = \operatorname{dexpinv}_{U_i} f(t + c_i h, \exp(U_i)\cdot y_0),"
_TABLEAU = (
    r"U_i = h \textstyle\sum_{j<i} a_{ij} k_j,\quad " + _RKMK,
    r"y_1 = \exp\bigl(h \textstyle\sum_i b_i k_i\bigr)\cdot y_0",
)
_U4 = r"U_2 = \tfrac h2 k_1,\ U_3 = \tfrac h2 k_2,\ U_4 = h k_3,"
_B4 = r"y_1 = \exp\bigl(\tfrac h6 (k_1 + 2 k_2 + 2 k_3 + k_4)\bigr)\cdot y_0"
_CF4 = r"Y_2 = \exp(\tfrac h2 k_1)\cdot y_0,\ Y_3 = \exp(\tfrac h2 k_2)\cdot y_0,\ Y_4 = \exp(h k_3 - \tfrac h2 k_1)\cdot Y_2,"
_KICKED = r"J w_1 = F^T (J w + c\,\tau) + c\,\tau_1"
_BALANCE_X = r"x = \tfrac h2 (w + w_1),\quad "
_NEWMARK_LINES = (
    r"J a = J w \times w + \tau,\quad J a_1 = J w_1 \times w_1 + \tau_1,\quad w_1 = w + h\,((1 - \gamma)\,a + \gamma\,a_1),",
    r"F = \operatorname{cay}\bigl(h w + h^2 ((\tfrac12 - \beta)\,a + \beta\,a_1)\bigr)",
)
_DISCRETE = r"p_0 + D_1 L_d(g_0, g_1) + F_0 = 0,\quad p_1 = D_2 L_d(g_0, g_1) + F_1,"
_SLGI = (
    r"(\xi, n) = h f(e^{\theta\xi} g_0, M),\ "
    r"M = \operatorname{dexp}^*_{-\xi}(\mu_0 + \operatorname{Ad}^*_{e^{\theta\xi}} n)"
    r" - \theta \operatorname{dexp}^*_{-\theta\xi} \operatorname{Ad}^*_{e^{\theta\xi}} n,",
    r"g_1 = e^{\xi} g_0,\quad \mu_1 = \operatorname{Ad}^*_{e^{(\theta - 1)\xi}} n + \operatorname{Ad}^*_{e^{-\xi}} \mu_0",
)


def _body(
    formula: tuple[str, ...], origin: str, *code: tuple[str, str, int], note: str = ""
) -> Card:
    return Card(formula, origin, ("seven_integrators", "long_times"), code, note)


CARDS: dict[str, Card] = {
    # --- in the surrounding space -----------------------------------------------------------------
    "RK4": Card(
        (
            r"k_i = f_M(t + c_i h, Y_i),\quad Y_2 = y_0 + \tfrac h2 k_1,\ Y_3 = y_0 + \tfrac h2 k_2,\ Y_4 = y_0 + h k_3,",
            r"y_1 = y_0 + \tfrac h6 (k_1 + 2 k_2 + 2 k_3 + k_4)",
        ),
        "Kutta (1901)",
        ("why_geometry", "first_integrators"),
        ((_METHODS + "classical", "y_new[i] = y[i] + h / 6.0", 1),),
        "It adds, so that it leaves the manifold: a step back cannot even begin where the step forth ends.",
    ),
    "RK45": Card(
        (
            r"k_i = f_M\bigl(t + c_i h, y_0 + h \textstyle\sum_{j<i} a_{ij} k_j\bigr),",
            r"y_1 = y_0 + h \textstyle\sum_i b_i k_i,\quad e = h \textstyle\sum_i (b_i - \hat b_i) k_i",
        ),
        f"{_DP}, as SciPy has it",
        ("why_geometry", "step_size"),
        ((_METHODS + "classical", "return generator(field(t, y, p), y)", 1),),
        "It chooses its steps; what is measured at a fixed step is not measured here.",
    ),
    "DOP853": Card(
        (
            r"k_i = f_M\bigl(t + c_i h, y_0 + h \textstyle\sum_{j<i} a_{ij} k_j\bigr),\quad i = 1, \ldots, 12,",
            r"y_1 = y_0 + h \textstyle\sum_i b_i k_i,\quad \text{two estimates } e_5, e_3 \text{ in one}",
        ),
        "Dormand and Prince (1989); Hairer, Nørsett and Wanner (1993), II.5 and II.10, as SciPy has it",
        ("why_geometry", "which_method"),
        ((_METHODS + "classical", "return generator(field(t, y, p), y)", 1),),
        "It chooses its steps; what is measured at a fixed step is not measured here.",
    ),
    # --- RKMK ---------------------------------------------------------------------------------------
    "LieEuler": Card(
        (r"k = f(t, y_0),", r"y_1 = \exp(h k)\cdot y_0"),
        f"{_MK}; {_CELLEDONI}, 2.2",
        ("first_integrators",),
        (_STAGE, (_EXPLICIT, 'EULER = Tableau("Euler"', 1)),
    ),
    "LieEulerHeun": Card(
        (
            r"k_1 = f(t, y_0),\quad k_2 = f(t + h, \exp(h k_1)\cdot y_0),",
            r"y_1 = \exp\bigl(\tfrac h2 (k_1 + k_2)\bigr)\cdot y_0",
        ),
        f"{_CELLEDONI}, 5.3",
        ("first_integrators",),
        (_STAGE, (_EXPLICIT, 'HEUN = Tableau("Heun"', 1)),
        "Order two needs no commutator.",
    ),
    "RKMK2": Card(
        (
            r"k_1 = f(t, y_0),\quad k_2 = f(t + \tfrac h2, \exp(\tfrac h2 k_1)\cdot y_0),",
            r"y_1 = \exp(h k_2)\cdot y_0",
        ),
        f"Runge (1895) for the tableau, {_MK}; {_CELLEDONI}, 2.2",
        ("heavy_top", "rkmk"),
        (_STAGE, (_EXPLICIT, 'MIDPOINT = Tableau("midpoint"', 1)),
        "Order two needs no commutator; the same map as `CG2`.",
    ),
    "RKMK3": Card(
        (
            r"U_2 = \tfrac h2 k_1,\ U_3 = h (2 k_2 - k_1),\quad " + _RKMK,
            r"y_1 = \exp\bigl(\tfrac h6 (k_1 + 4 k_2 + k_3)\bigr)\cdot y_0",
        ),
        f"Kutta (1901) for the tableau, {_MK}; {_CELLEDONI}, 2.2",
        ("rkmk",),
        (_DEXPINV, (_EXPLICIT, '"Kutta 3", 3,', 1)),
    ),
    "RKMK4": Card(
        (_U4 + r"\quad " + _RKMK, _B4),
        f"{_MK}; {_CELLEDONI}, 2.2",
        ("first_integrators", "rkmk"),
        (_STAGE, _DEXPINV),
    ),
    "RKMK4t1": Card(
        (
            _U4,
            r"k_i = v_i - \tfrac12 [U_i, v_i],\quad v_i = f(t + c_i h, \exp(U_i)\cdot y_0),",
            _B4,
        ),
        f"{_MK}; {_CELLEDONI}, 2.2",
        ("rkmk",),
        (_SERIES, (_METHODS + "rkmk", '"RKMK4t1"', 1)),
        "`RKMK4` with dexpinv cut after one commutator: that costs an order.",
    ),
    "RKMK4t2": Card(
        (
            _U4 + r"\quad k_i = v_i - \tfrac12 [U_i, v_i] + \tfrac1{12} [U_i, [U_i, v_i]],",
            r"v_i = f(t + c_i h, \exp(U_i)\cdot y_0),\quad " + _B4,
        ),
        f"{_MK}; {_CELLEDONI}, 2.2",
        ("rkmk",),
        (_SERIES, (_METHODS + "rkmk", '"RKMK4t2"', 1)),
        "`RKMK4` with dexpinv cut after two commutators: enough for its order.",
    ),
    "RKMK4c2": Card(
        (
            r"f_i = h f(Y_i),\quad Y_2 = \exp(\tfrac12 f_1)\cdot y_0,",
            r"Y_3 = \exp(\tfrac12 f_2 - \tfrac18 [f_1, f_2])\cdot y_0,\ Y_4 = \exp(f_3)\cdot y_0,",
            r"y_1 = \exp\bigl(\tfrac16 (f_1 + 2 f_2 + 2 f_3 + f_4 - \tfrac12 [f_1, f_4])\bigr)\cdot y_0",
        ),
        f"[Munthe-Kaas and Owren (1999)](references.md#munthekaas1999b); {_CELLEDONI}, 2.2",
        ("rkmk",),
        (
            (_METHODS + "rkmk", "u[i] = 0.5 * f2[i] - 0.125 * f12[i]", 1),
            (_METHODS + "rkmk", "# (f1 + 2 f2 + 2 f3 + f4", 2),
        ),
        "Two commutators in all; `RKMK4t2`, whose series keeps as many as the order needs, has six.",
    ),
    "RKMK5": Card(
        _TABLEAU,
        f"{_DP} for the tableau, six stages; {_CELLEDONI}, 5.3",
        ("rkmk",),
        (_DEXPINV, (_EXPLICIT, '"Dormand-Prince 5",', 4)),
    ),
    "RKMK54": Card(
        (
            _TABLEAU[0],
            _TABLEAU[1] + r",\quad e = h \textstyle\sum_i (b_i - \hat b_i) k_i",
        ),
        f"{_DP} for the pair; {_CELLEDONI}, 4.1",
        ("step_size",),
        (_DEXPINV, (_METHODS + "rkmk", "combine(h, d, row, k, error)", 1)),
        "The default of `solve`. The error is formed in the algebra and weighed by how far it moves the point.",
    ),
    "RKMK8": Card(
        (
            _TABLEAU[0],
            _TABLEAU[1] + r",\quad \text{two estimates } e_5, e_3 \text{ in one}",
        ),
        f"Dormand and Prince (1989); Hairer, Nørsett and Wanner (1993), II.5 and II.10, for the tableau of twelve stages; {_CELLEDONI}, 4.1",
        ("rkmk", "step_size"),
        (_DEXPINV, (_METHODS + "rkmk", "first *= first / math.sqrt(", 1)),
    ),
    # --- without commutators ----------------------------------------------------------------------
    "CF4": Card(
        (
            _CF4,
            r"y_1 = \exp\bigl(\tfrac h{12} (-k_1 + 2 k_2 + 2 k_3 + 3 k_4)\bigr) \exp\bigl(\tfrac h{12} (3 k_1 + 2 k_2 + 2 k_3 - k_4)\bigr)\cdot y_0",
        ),
        f"[Celledoni, Marthinsen and Owren (2003)](references.md#celledoni2003); {_CELLEDONI}, (9)",
        ("commutator_free",),
        (_FLOW, (_FREE, "[3 / 12, 2 / 12, 2 / 12, -1 / 12],", 2)),
    ),
    "CF32a": Card(
        (
            r"Y_2 = \exp(\tfrac h3 k_1)\cdot y_0,\quad Y_3 = \exp(\tfrac{2h}3 k_2)\cdot y_0,",
            r"y_1 = \exp(\tfrac{3h}4 k_3 - \tfrac h{12} k_1)\cdot Y_2,\quad \hat y_1 = \exp\bigl(\tfrac h2 (k_2 + k_3)\bigr)\cdot y_0",
        ),
        f"{_CELLEDONI}, 4.2.1, first pair",
        ("step_size", "commutator_free"),
        (_FLOW, (_FREE, "[Flow([[1 / 3]]), Flow([[0, 2 / 3]])],", 3)),
        "An exponential of a stage serves the update once more.",
    ),
    "CF32b": Card(
        (
            r"Y_2 = \exp(\tfrac{2h}3 k_1)\cdot y_0,\quad Y_3 = \exp\bigl(h (\tfrac5{12} k_1 + \tfrac14 k_2)\bigr)\cdot y_0,",
            r"y_1 = \exp\bigl(h (k_3 - \tfrac12 k_2 - \tfrac16 k_1)\bigr)\cdot Y_3,\quad \hat y_1 = \exp\bigl(\tfrac h4 (k_1 + 3 k_3)\bigr)\cdot y_0",
        ),
        f"{_CELLEDONI}, 4.2.1, second pair",
        ("step_size", "commutator_free"),
        (_FLOW, (_FREE, "[Flow([[2 / 3]]), Flow([[5 / 12, 1 / 4]])],", 3)),
    ),
    "CF43": Card(
        (
            _CF4,
            r"Y_5 = \exp(\tfrac{3h}4 k_2)\cdot y_0,",
            r"y_1 \text{ as in CF4},\quad \hat y_1 = \exp\bigl(\tfrac h9 (-k_1 + 3 k_2 + 4 k_5)\bigr) \exp(\tfrac h3 k_1)\cdot y_0",
        ),
        f"{_CELLEDONI}, (34)",
        ("step_size", "which_method"),
        (_FLOW, (_FREE, "extra=[Flow([[0, 3 / 4]])],", 2)),
    ),
    "CG2": Card(
        (r"Y_2 = \exp(\tfrac h2 k_1)\cdot y_0,", r"y_1 = \exp(h k_2)\cdot y_0"),
        "[Crouch and Grossman (1993)](references.md#crouch1993)",
        ("commutator_free",),
        (_FLOW, (_FREE, 'CG2 = crouch_grossman("CG2"', 1)),
        "The same map as `RKMK2`.",
    ),
    "CG3": Card(
        (
            r"Y_2 = \exp(\tfrac{3h}4 k_1)\cdot y_0,\quad Y_3 = \exp(\tfrac{17h}{108} k_2) \exp(\tfrac{119h}{216} k_1)\cdot y_0,",
            r"y_1 = \exp(\tfrac{24h}{17} k_3) \exp(-\tfrac{2h}3 k_2) \exp(\tfrac{13h}{51} k_1)\cdot y_0",
        ),
        "[Crouch and Grossman (1993)](references.md#crouch1993)",
        ("commutator_free",),
        (_FLOW, (_FREE, "[[], [3 / 4], [119 / 216, 17 / 108]],", 2)),
    ),
    "CG4": Card(
        (
            r"Y_i = \exp(h a_{i,i-1} k_{i-1}) \cdots \exp(h a_{i1} k_1)\cdot y_0,\quad i = 2, \ldots, 5,",
            r"y_1 = \exp(h b_5 k_5) \cdots \exp(h b_1 k_1)\cdot y_0",
        ),
        "[Jackiewicz, Marthinsen and Owren (2000)](references.md#jackiewicz2000)",
        ("commutator_free",),
        (_FLOW, (_FREE, "[0.8177227988124852],", 4)),
    ),
    # --- implicit, on actions ---------------------------------------------------------------------
    "LieMidpoint": Card(
        (
            r"\xi = f\bigl(t + \tfrac h2, \exp(\tfrac h2 \xi)\cdot y_0\bigr),",
            r"y_1 = \exp(h \xi)\cdot y_0",
        ),
        f"the midpoint rule of one-stage Gauss, {_HLW}, II.1, pulled back as in {_MK}",
        ("rkmk", "dipoles_vortices_spins"),
        (_GAUSS, (_IMPLICIT, "GAUSS2 = ImplicitTableau(", 1)),
    ),
    "RKMKGL4": Card(
        (_TABLEAU[0].replace("j<i", "j"), _TABLEAU[1]),
        f"two-stage Gauss, {_HLW}, II.1, pulled back as in {_MK}; {_ORTOLAN}, 7",
        ("rkmk", "pendula"),
        (_GAUSS, (_IMPLICIT, '"Gauss 4",', 1)),
    ),
    "RKMKGL6": Card(
        (_TABLEAU[0].replace("j<i", "j"), _TABLEAU[1]),
        f"three-stage Gauss, {_HLW}, II.1, pulled back as in {_MK}",
        ("rkmk",),
        (_GAUSS, (_IMPLICIT, "[5 / 36, 2 / 9 - _15 / 15, 5 / 36 - _15 / 30],", 3)),
    ),
    # --- cotangent bundles ------------------------------------------------------------------------
    "SLGI": Card(
        _SLGI,
        f"[Bogfjellmo and Marthinsen (2016)](references.md#bogfjellmo2016); {_CELLEDONI}, (15)–(17), (17) corrected",
        ("symplectic",),
        (
            (_METHODS + "cotangent", "dexp_mu0_Ad_n[i] - theta * dexp_Ad_n[i]", 1),
            (_METHODS + "cotangent", "move_left(group, xi, g0, g1)", 7),
        ),
        "Measured at $\\theta = \\tfrac12$, its default; any other $\\theta$ from 0 to 1 has order one.",
    ),
    "SLGIKK": Card(
        (
            _SLGI[0].replace(r"\theta ", r"\tfrac12 ").replace(r"\theta", r"\frac12 "),
            _SLGI[1].replace(r"(\theta - 1)\xi", r"-\xi/2"),
        ),
        f"{_CELLEDONI}, 3.4.3",
        ("symplectic",),
        ((_METHODS + "cotangent", "return prepare(formulation, y0, 0.5)", 1),),
        "`SLGI` at $\\theta = \\tfrac12$ on the cotangent bundle of SO(3) × R³; measured on the heavy top in its quadratic form.",
    ),
    # --- rigid bodies -----------------------------------------------------------------------------
    "ELN": _body(
        (
            r"J v = J w + c\,(J w \times w + \tau),\quad F = \operatorname{cay}(h v),",
            r"J w_1 - c\,J w_1 \times w_1 = J v + c\,\tau_1",
        ),
        f"[Simo and Vu-Quoc (1988)](references.md#simo1988); {_ORTOLAN}, (4.1)",
        (_BODY, "v = (J * w + c * tau + c * cross(J * w, w)) / J", 5),
        note="Also on spheres. Newmark's family at $\\beta = 0$, $\\gamma = \\tfrac12$.",
    ),
    "PRK": _body(
        (
            r"J v - c\,J v \times v = J w + c\,\tau,\quad F = \operatorname{cay}(h v),",
            r"J w_1 = J v + c\,(J v \times v + \tau_1)",
        ),
        f"Nukala and Shelton (2007); {_ORTOLAN}, (4.8)",
        (_BODY, "v, left = newton(PRK", 4),
    ),
    "VLV": _body(
        (
            r"(\operatorname{dcayinv}_{hv})^T J v = J w + c\,\tau,\quad F = \operatorname{cay}(h v),",
            r"J w_1 = (\operatorname{dcayinv}_{-hv})^T J v + c\,\tau_1",
        ),
        f"[Bou-Rabee and Marsden (2009)](references.md#bourabee2009); {_ORTOLAN}, (4.11), residual corrected",
        (_BODY, "# J v - c J v x v + c^2 (v . J v) v = b: ortolan (4.11a)", 5),
    ),
    "RATTLE": _body(
        (
            r"h\,\widehat{(J w + c\,\tau)} = F J_d - J_d F^T,\quad J_d = \tfrac12 \operatorname{tr}(J)\,1 - J,",
            _KICKED,
        ),
        "[Reich (1994)](references.md#reich1994), [McLachlan and Scovel (1995)](references.md#mclachlan1995); "
        f"free: [Moser and Veselov (1991)](references.md#moser1991); {_ORTOLAN}, 2.3",
        (_BODY, "f = J * v - c * cross(J * v, v) - (1.0 + c**2 * dot(v, v)) * b", 1),
        (_BODY, "    F = cay(h * v)", 4),
        note="Also on spheres.",
    ),
    "MCG": _body(
        (
            r"J v = \exp(-c v)\,(J w + c\,\tau),\quad F = \exp(h v),",
            _KICKED,
        ),
        f"Nukala and Shelton (2007); {_ORTOLAN}, (4.9), (4.9c) corrected",
        (_BODY, "v, left = newton(MCG", 6),
    ),
    "LIEMID": _body(
        (
            r"m = J w + c\,\tau,\quad \text{twice: } J v = \exp(-\tfrac c2 v)\,m,\ m \leftarrow \exp(-c v)\,m,",
            r"F = \exp(c v_a) \exp(c v_b),\quad J w_1 = m + c\,\tau_1",
        ),
        f"[Krysl (2005)](references.md#krysl2005); {_ORTOLAN}, (4.6)",
        (_BODY, "v, left = newton(LIEMID", 3),
        (_BODY, "Fa, m, left_a = liemid_half(c, J * w + c * tau, J)", 5),
    ),
    "NEW3": _body(
        (
            r"R_m = R \exp(c w),\quad \exp(c w_1)\,J w_1 = \exp(-c w)\,J w + h\,\tau(R_m),",
            r"R_1 = R_m \exp(c w_1)",
        ),
        f"Koziara and Bićanić (2010); {_ORTOLAN}, (4.10)",
        (_BODY, "b = transpose(F) @ (J * w) + h * torque_at(body, t + c, y_new)", 3),
    ),
    "SimoWong": _body(
        (
            _BALANCE_X + r"F = \exp(x),\quad G = \exp(\tfrac12 x),",
            r"J w_1 = F^T J w + h\,G^T \tau(R G)",
        ),
        "[Simo and Wong (1991)](references.md#simowong1991), ALGO_C1; torque at the middle",
        (_BALANCE, "v = transpose(turn(rule.cay_momentum, x)) @ (J * w)", 3),
    ),
    "AKW": _body(
        (
            _BALANCE_X + r"F = \operatorname{cay}(x),\quad G = \operatorname{cay}(x)^{1/2},",
            r"J w_1 = F^T J w + h\,G^T \tau(R G)",
        ),
        "[Austin, Krishnaprasad and Wang (1993)](references.md#austin1993); torque at the middle",
        (_BALANCE, "v = transpose(turn(rule.cay_momentum, x)) @ (J * w)", 3),
    ),
    "Algo1": _body(
        (
            _BALANCE_X + r"F = \exp(x),\quad G = \exp(\tfrac12 x),",
            r"J w_1 = \operatorname{cay}(x)^T J w + h\,G^T \tau(R G)",
        ),
        "[Simo and Wong (1991)](references.md#simowong1991), ALGO_1, as far as a table tells it",
        (_BALANCE, "v = transpose(turn(rule.cay_momentum, x)) @ (J * w)", 3),
    ),
    "LewisSimo": _body(
        (
            r"x = (1 + \tfrac14 |x|^2)\,\tfrac h2 (w + w_1),\quad F = \operatorname{cay}(x),\quad G = \operatorname{cay}(x)^{1/2},",
            r"J w_1 = F^T J w + c\,G^T (\tau + \tau_1)",
        ),
        "[Lewis and Simo (1994)](references.md#lewissimo1994), as far as a table tells it; "
        "free: [Moser and Veselov (1991)](references.md#moser1991)",
        (_BALANCE, "s, ds = 1.0 + 0.25 * dot(x, x), 0.5 * x", 1),
        (_BALANCE, "v = transpose(turn(rule.cay_momentum, x)) @ (J * w)", 3),
    ),
    "LieNewmark": Card(
        _NEWMARK_LINES,
        f"[Simo and Vu-Quoc (1988)](references.md#simo1988); {_ORTOLAN}, 4.1.1",
        ("seven_integrators", "long_times"),
        _NEWMARK,
        "Measured at its defaults $\\beta = \\tfrac14$, $\\gamma = \\tfrac12$, which are `TLN`. The family of `ELN` and `TLN`.",
    ),
    "TLN": _body(
        (
            _NEWMARK_LINES[0].replace(
                r"(1 - \gamma)\,a + \gamma\,a_1", r"\tfrac12 a + \tfrac12 a_1"
            ),
            r"F = \operatorname{cay}\bigl(h w + \tfrac{h^2}4 (a + a_1)\bigr)",
        ),
        f"[Simo and Vu-Quoc (1988)](references.md#simo1988); {_ORTOLAN}, (4.3), Jacobian corrected",
        *_NEWMARK,
    ),
    # --- other spaces -----------------------------------------------------------------------------
    "RiemannianLeapfrog": Card(
        (
            r"p_1 = -\partial_1 S,\ p_2 = \partial_2 S,\quad q_2 = \exp_{q_1} w,\ w' = -P w,",
            r"S = \tfrac1{4h} \bigl(G(q_1)(w, w) + G(q_2)(w', w')\bigr) - \tfrac h2 \bigl(V(q_1) + V(q_2)\bigr)",
        ),
        "[Leimkuhler and Patrick (1996)](references.md#leimkuhler), (32)–(33)",
        ("riemannian",),
        ((_METHODS + "riemannian", "w_new[i] = h * p1[i] - 0.5", 1),),
        "$\\exp_q$ is the geodesic's, $P$ the parallel transport along it. Calls of the metric in the iteration are not counted.",
    ),
    "SphericalMidpoint": Card(
        (
            r"Q_i = q_i + h\,f_i(t + \tfrac h2, m) \times m_i,",
            r"m_i = \frac{q_i + Q_i}{|q_i + Q_i|}",
        ),
        "[McLachlan, Modin and Verdier (2014)](references.md#mclachlan2014)",
        ("dipoles_vortices_spins",),
        ((_METHODS + "spherical_midpoint", "turn = cross_core(", 3),),
        "For spins and vortices, $q_i' = f_i \\times q_i$; measured on a ring of four spins.",
    ),
    # --- variational ------------------------------------------------------------------------------
    "LGVI": Card(
        (
            _DISCRETE,
            r"L_d = \tfrac h2 \bigl(L(g_0, \xi) + L(g_1, \xi)\bigr),\quad g_1 = g_0 \operatorname{cay}(h \xi)",
        ),
        "[Marsden and West (2001)](references.md#marsden2001); [Fan and Murphey (2016)](references.md#fan), (9), (10)",
        ("variational", "symplectic"),
        (
            (_METHODS + "_rotation_step", "D1_Ld = h * a * L0.g", 2),
            (_METHODS + "_rotation_step", "D2_Ld = h * b * L1.g", 2),
        ),
        "Its default rule, the trapezoidal one; constraints come in by multipliers. For a discrete Lagrangian of the "
        "system's own it is half a step of the adjoint, then half a step.",
    ),
    "LGVI1": Card(
        (
            _DISCRETE,
            r"L_d = h\,L(g_0, \xi),\quad g_1 = g_0 \operatorname{cay}(h \xi)",
        ),
        "[Lee, Leok and McClamroch (2009)](references.md#lee), (48)–(56), (49) corrected",
        ("swimming", "variational"),
        (
            (_METHODS + "_rotation_step", "D1_Ld = h * a * L0.g", 2),
            (_METHODS + "variational", '"left": (WEIGHTS, (1.0, 0.0)),', 1),
        ),
        "The left rule; or the discrete Lagrangian that the system brings.",
    ),
    # --- compositions -----------------------------------------------------------------------------
    "yoshida4(VLV)": Card(
        (
            r"\Phi_{xh} \circ \Phi_{(1-2x)h} \circ \Phi_{xh},",
            r"x = 1/(2 - 2^{1/3})",
        ),
        f"[Yoshida (1990)](references.md#yoshida1990); {_HLW}, II.4",
        ("long_times", "symplectic"),
        ((_METHODS + "composition", '"yoshida4": (', 1),),
        '`lielab.compose("VLV", "yoshida4")`, of any symmetric method of order two.',
    ),
    "suzuki4(VLV)": Card(
        (
            r"\Phi_{xh} \circ \Phi_{xh} \circ \Phi_{(1-4x)h} \circ \Phi_{xh} \circ \Phi_{xh},",
            r"x = 1/(4 - 4^{1/3})",
        ),
        f"Suzuki (1990); {_HLW}, II.4",
        ("long_times", "symplectic"),
        ((_METHODS + "composition", '"suzuki4": (', 1),),
        '`lielab.compose("VLV", "suzuki4")`, of any symmetric method of order two.',
    ),
    "yoshida6(VLV)": Card(
        (
            r"\Phi_{w_1 h} \circ \Phi_{w_2 h} \circ \Phi_{w_3 h} \circ \Phi_{w_0 h} \circ \Phi_{w_3 h} \circ \Phi_{w_2 h} \circ \Phi_{w_1 h},",
            r"w_0 = 1 - 2\,(w_1 + w_2 + w_3),\quad w = (0.7845, 0.2356, -1.1777)",
        ),
        f"[Yoshida (1990)](references.md#yoshida1990), solution A; {_HLW}, V.3",
        ("long_times", "symplectic"),
        ((_METHODS + "composition", "_W = (0.784513610477560", 1),),
        '`lielab.compose("VLV", "yoshida6")`, of any symmetric method of order two.',
    ),
    "adjoint(LGVI1)": Card(
        (r"\Phi^*_h = \Phi_{-h}^{-1},", r"y_1 = \Phi^*_h(y_0) \iff y_0 = \Phi_{-h}(y_1)"),
        f"{_HLW}, II.3",
        ("swimming", "symplectic"),
        ((_METHODS + "composition", "back = None if x is None else step(x, t + h, -h)", 4),),
        '`lielab.adjoint("LGVI1")`, of any method. Its loop runs in Python, for study: measured at a step of 0.2 s and over shorter times.',
    ),
    "symmetrised(LGVI1)": Card(
        (r"\Phi_{h/2} \circ \Phi^*_{h/2},", r"\Phi^*_h = \Phi_{-h}^{-1}"),
        f"{_HLW}, II.3",
        ("swimming", "symplectic"),
        ((_METHODS + "composition", "parts = ((0.5, True), (0.5, False))", 1),),
        '`lielab.symmetrised("LGVI1")`, of any method. Its loop runs in Python, for study: measured at a step of 0.2 s and over shorter times.',
    ),
}
