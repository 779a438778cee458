"""Coefficients: their orders from rooted trees and from the Crouch-Grossman conditions, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import lielab
from lielab import tableaus
from lielab.tableaus import CommutatorFree, Flow, ImplicitTableau, Tableau, classical_order

EXPLICIT = [
    tableaus.EULER,
    tableaus.MIDPOINT,
    tableaus.HEUN,
    tableaus.KUTTA3,
    tableaus.RK4,
    tableaus.DORMAND_PRINCE_5,
    tableaus.DORMAND_PRINCE_54,
    tableaus.DORMAND_PRINCE_853,
]
FREE = [
    tableaus.CF4,
    tableaus.CF43,
    tableaus.CF32A,
    tableaus.CF32B,
    tableaus.CG2,
    tableaus.CG3,
    tableaus.CG4,
]


@pytest.mark.parametrize("tableau", EXPLICIT, ids=lambda t: t.name)
def test_explicit_orders_are_the_claimed_ones_and_no_more(tableau):
    assert classical_order(tableau.a, tableau.b, 9) == tableau.order
    for weights, order in ((tableau.b_hat, tableau.order_hat), (tableau.b_low, tableau.order_low)):
        if weights is not None:
            assert classical_order(tableau.a, weights, 9) == order
    np.testing.assert_allclose(tableau.errors.sum(axis=1), 0.0, atol=1e-14)


@pytest.mark.parametrize("tableau", [tableaus.GAUSS2, tableaus.GAUSS4, tableaus.GAUSS6])
def test_gauss_orders(tableau):
    assert classical_order(tableau.a, tableau.b, 8) == tableau.order == 2 * tableau.stages


def test_trees_are_counted_right():
    from lielab.tableaus._trees import _trees

    assert [len(_trees(n)) for n in range(1, 9)] == [1, 1, 2, 4, 9, 20, 48, 115]


def test_first_same_as_last():
    assert tableaus.DORMAND_PRINCE_54.fsal
    assert not any(t.fsal for t in EXPLICIT if t is not tableaus.DORMAND_PRINCE_54)
    assert [t.error_order for t in EXPLICIT[-2:]] == [4, 7]  # dop853: 2 * 6 - 4 - 1


@pytest.mark.parametrize("method", FREE, ids=lambda t: t.name)
def test_commutator_free_methods_have_their_order_on_vector_spaces(method):
    s = len(method.c)
    a = np.zeros((s, s))
    totals = [np.zeros(s)]
    for index in range(s - 1):
        rows = method.rows[method.first[index] : method.first[index + 1]]
        base = totals[method.base[index] + 1]
        totals.append(base + rows.sum(axis=0))
        a[index + 1] = totals[-1]
    np.testing.assert_allclose(a.sum(axis=1), method.c, atol=1e-15)
    assert classical_order(a, method.b) == method.order


@pytest.mark.parametrize("method", [tableaus.CG2, tableaus.CG3, tableaus.CG4])
def test_crouch_grossman_conditions(method):
    """Those beyond the classical ones: products of exponentials must compose to the right brackets."""
    b, c = method.b, method.c
    later = np.cumsum(b[::-1])[::-1] - b  # sum of b_j over j > i
    assert (b @ c) == pytest.approx(1 / 2, abs=1e-14)
    if method.order >= 3:
        assert (b * b * c).sum() + 2 * (b * c * later).sum() == pytest.approx(1 / 3, abs=1e-14)


def test_exponentials_are_counted():
    counted = {m.name: (m.n_exponentials, m.n_exponentials_hat) for m in FREE}
    assert counted == {
        "CF4": (5, 0),
        "CF43": (5, 3),
        "CF32a": (3, 1),
        "CF32b": (3, 1),
        "CG2": (2, 0),
        "CG3": (6, 0),
        "CG4": (15, 0),
    }


REFUSED = {
    "explicit": (lambda: Tableau("x", 1, [[1.0]], [1.0]), "strictly lower triangular"),
    "rows": (lambda: Tableau("x", 1, [], [1.0]), "must have 1 rows"),
    "consistency": (lambda: Tableau("x", 1, [[], [1.0]], [0.5, 0.4]), "b must sum to 1"),
    "order": (lambda: Tableau("x", 2, [[], [1.0]], [0.6, 0.4]), "order = 2, but b has order 1"),
    "no order": (lambda: Tableau("x", 0, [[]], [1.0]), "order must be a whole number, at least 1"),
    "order text": (lambda: Tableau("x", "2", [[]], [1.0]), "order must be a whole number.*got '2'"),
    "order half": (lambda: Tableau("x", 1.5, [[]], [1.0]), "order must be a whole number.*got 1.5"),
    "nan": (lambda: Tableau("x", 1, [[], [np.nan]], [0, 1]), "row 2 of a must be .* finite"),
    "infinite": (lambda: Tableau("x", 1, [[], [1.0]], [np.inf, 1.0]), "b must be a row of finite"),
    "text": (lambda: Tableau("x", 1, [[], ["1/2"]], [0, 1]), "row 2 of a must be a row of finite"),
    "no rows": (lambda: Tableau("x", 1, 0.5, [1.0]), "a must be a list of 1 rows, got 0.5"),
    "no row": (lambda: Tableau("x", 1, [[]], 1.0), "b must be a row of finite numbers, got 1.0"),
    "b_hat order": (
        lambda: Tableau("x", 1, [[], [1.0]], [0.5, 0.5], b_hat=[1.0, 0.0]),
        "order_hat must be a whole number, at least 1 where b_hat is given, got 0",
    ),
    "b_low alone": (
        lambda: Tableau("x", 1, [[]], [1.0], b_low=[1.0], order_low=1),
        "give the first one as b_hat",
    ),
    "b_hat length": (
        lambda: Tableau("x", 1, [[], [1.0]], [0.5, 0.5], b_hat=[1.0], order_hat=1),
        "b_hat must have 2 entries",
    ),
    "b_hat sum": (
        lambda: Tableau("x", 1, [[], [1.0]], [0.5, 0.5], b_hat=[1.0, 0.1], order_hat=1),
        "b_hat must sum to 1",
    ),
    "implicit shape": (lambda: ImplicitTableau("x", 1, [[1.0]], [0.5, 0.5]), "shape"),
    "implicit nan": (lambda: ImplicitTableau("x", 1, [[np.nan]], [1.0]), "row 1 of a must be"),
    "implicit scalar": (lambda: ImplicitTableau("x", 1, 0.5, [1.0]), "row 1 of a must be a row"),
    "implicit order": (lambda: ImplicitTableau("x", 2, [[1.0]], [1.0]), "has order 1"),
    "implicit sum": (lambda: ImplicitTableau("x", 1, [[1.0]], [0.9]), "b must sum to 1"),
    "later stage": (
        lambda: CommutatorFree("x", 1, [Flow([[0.5, 0.5]])], Flow([[0.5, 0.5]])),
        r"stages 1 to 1 only \(explicit\)",
    ),
    "extra stage": (
        lambda: CommutatorFree(
            "x", 1, [], Flow([[0.5, 0.5]]), [Flow([[0.5]])], Flow([[1.0]]), order_hat=1
        ),
        "stages 1 to 1 only",
    ),
    "base": (
        lambda: CommutatorFree("x", 1, [Flow([[0.5]], base=1)], Flow([[0.5, 0.5]])),
        "base of stage 2",
    ),
    "weights": (lambda: CommutatorFree("x", 1, [], Flow([[0.9]])), "must sum to 1"),
    "flow nan": (lambda: CommutatorFree("x", 1, [Flow([[np.nan]])], Flow([[0, 1]])), "of stage 2"),
    "no flow": (lambda: CommutatorFree("x", 1, [], [[1.0]]), "must be Flow objects"),
    "flow order": (lambda: CommutatorFree("x", 0, [], Flow([[1.0]])), "order must be a whole"),
    "flow order_hat": (
        lambda: CommutatorFree("x", 1, [], Flow([[1.0]]), update_hat=Flow([[1.0]])),
        "order_hat must be a whole number",
    ),
    "too many": (lambda: CommutatorFree("x", 1, [], Flow([[1.0, 0.0]])), "2 weights for 1 stages"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    make, message = REFUSED[case]
    with pytest.raises(ValueError, match=message):
        make()


# --- a step by addition ------------------------------------------------------------------------------


def circle(y):
    return np.stack([-y[1], y[0]])


@pytest.mark.parametrize("tableau", EXPLICIT, ids=lambda t: t.name)
def test_a_step_is_the_stability_polynomial_on_a_linear_field(tableau):
    h, z = 0.3, 1.0 + 0.0j
    power, polynomial = np.ones(tableau.stages), 1.0 + 0.0j
    for k in range(1, tableau.stages + 1):  # 1 + sum_k (b A^(k-1) 1) (i h)^k
        polynomial += (tableau.b @ power) * (1j * h) ** k
        power = tableau.a @ power
    end = tableau.step(circle, [z.real, z.imag], h)
    assert end == pytest.approx([polynomial.real, polynomial.imag], abs=1e-15)
    assert abs(polynomial - np.exp(1j * h)) < 2 * h ** (tableau.order + 1)


def test_a_step_is_that_of_the_compiled_method():
    body = lielab.systems.FreeRigidBody(inertia=(1.0, 2.0, 3.0))
    inertia = np.array(body.inertia)
    y = body.y0
    for _ in range(10):
        y = tableaus.RK4.step(lambda mu: np.cross(mu, mu / inertia), y, 0.1)
    sol = lielab.solve(body, (0, 1), method="RK4", h=0.1)
    assert np.abs(sol.y[-1] - y).max() < 1e-15


def test_a_step_takes_arrays_of_any_shape_and_leaves_them_alone():
    many = np.arange(12.0).reshape(2, 2, 3)
    before = many.copy()
    ends = tableaus.RK4.step(circle, many, 0.1)
    assert ends.shape == many.shape
    assert np.array_equal(many, before)
    for place in np.ndindex(2, 3):
        alone = tableaus.RK4.step(circle, many[(slice(None), *place)], 0.1)
        assert np.array_equal(ends[(slice(None), *place)], alone)
    assert tableaus.RK4.step(lambda y: -y, 1, 0.1) == pytest.approx(0.9048375, abs=1e-12)
