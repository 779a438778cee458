"""The contract of every group: `lielab.testing.check_group`, and that it finds what is wrong."""

from __future__ import annotations

import contextlib
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lielab import (
    cotangent_so3,
    direct_tso3,
    matrix_group,
    power,
    product,
    quaternions,
    rn,
    se2,
    se3,
    so2,
    so3,
    special_linear,
    special_orthogonal,
    symplectic,
)
from lielab.testing import check_group, gap
from lielab.testing._groups import CONTRACT

SMOOTH = [so2, se2, so3, se3, quaternions, cotangent_so3, direct_tso3, rn(1), rn(4)]
BUILT = [
    product(so3, rn(3), se2),
    power(se3, 2),
    product(power(so2, 2), quaternions),
    special_orthogonal(3),
    special_orthogonal(4),
    special_linear(2),
    special_linear(3),
    symplectic(1),
    symplectic(2),
    product(special_linear(2), so2),
]


def label(group: object) -> str:
    return group.name


@pytest.mark.parametrize("group", SMOOTH, ids=label)
def test_contract(group) -> None:
    report = check_group(group)
    assert not report.failures
    assert "Cayley" not in report.skipped  # all of these offer it
    # And have a log everywhere.
    assert not any(name.startswith("log at") for name in report.skipped)


@pytest.mark.parametrize("group", BUILT, ids=label)
def test_contract_of_composed_and_generic_groups(group) -> None:
    assert not check_group(group, samples=1, batches=((2,), (2, 1), (0,))).failures


@pytest.mark.parametrize("group", SMOOTH[:5], ids=label)
@pytest.mark.parametrize("seed", range(1, 5))
def test_contract_with_other_samples(group, seed: int) -> None:
    check_group(group, samples=2, seed=seed, sizes=(1e-5, 0.1, 2.5), batches=())


def test_a_readers_own_group_passes() -> None:
    """The affine group of the line, x -> a x + b, as a matrix group without form or defect."""
    affine = matrix_group(
        [[[1.0, 0.0], [0.0, 0.0]], [[0.0, 1.0], [0.0, 0.0]]], "Aff(1)", nearest=lambda X: X
    )
    report = check_group(affine)
    assert report.skipped["Cayley"] == "not offered"
    np.testing.assert_allclose(affine.bracket([1.0, 0.0], [0.0, 1.0]), [0.0, 1.0], atol=1e-15)


HEISENBERG = [
    [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
    [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]],
    [[0.0, 0.0, 1.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
]


def test_what_a_group_does_not_offer_is_skipped() -> None:
    bare = check_group(matrix_group(HEISENBERG, "H"))
    assert bare.skipped["project"] == bare.skipped["Cayley"] == "not offered"
    more = check_group(matrix_group(HEISENBERG, "H", nearest=lambda X: X))
    assert "project" not in more.skipped
    assert "project leaves elements" in more.worst
    without = broken(so3)
    del without.project
    assert check_group(without, samples=1).skipped["project"] == "not offered"
    product_ = check_group(product(so3, matrix_group(HEISENBERG, "H")), samples=1, batches=((2,),))
    assert product_.skipped["project"] == "not offered"


def broken(group, **functions) -> SimpleNamespace:
    """A copy of a group with some functions replaced."""
    names = [n for n in dir(group) if not n.startswith("__")]
    return SimpleNamespace(**{n: getattr(group, n) for n in names} | functions)


def not_series(u):
    return np.eye(3) + 0.5 * so3.ad(u) + so3.ad(u) @ so3.ad(u) / 12.0


def jump(u):
    """exp with a defect that only angles near 1e-5 see, as in a well-known library."""
    size = np.linalg.norm(u, axis=-1)
    hit = (size > 3e-6) & (size < 3e-5)
    return so3.exp(np.where(hit[..., None], 1.01, 1.0) * u)


MUTATIONS = [
    (so3, {"dexpinv": not_series}, "dexp dexpinv = 1"),
    (so3, {"dexp": lambda u: so3.dexp(-np.asarray(u))}, "dexp against differences"),
    (so3, {"bracket": lambda u, v: -so3.bracket(u, v)}, "ad_u v = [u, v]"),
    (so3, {"coAd": so3.Ad}, "coAd is the transpose of Ad"),
    (so3, {"coad": so3.ad}, "coad is the transpose of ad"),
    (so3, {"compose": lambda g, h: so3.compose(h, g)}, "Ad is a homomorphism"),
    (so3, {"inverse": lambda g: np.asarray(g)}, "inverse from the left"),
    (so3, {"exp": jump}, "log(exp(u)) = u at every size"),
    (so3, {"cay": so3.ccsk}, "cay agrees with exp to second order"),
    (so3, {"dcay": so3.dexp}, "dcay against differences"),
    (so3, {"distance": lambda g, h: np.zeros(np.shape(g)[:-2])}, "distance tells elements apart"),
    (so3, {"project": lambda g: 1.001 * np.asarray(g)}, "project leaves elements"),
    (so3, {"dexp_left": so3.dexp}, "left-trivialised tangents are those at -u"),
    (so3, {"log": lambda g: np.reshape(so3.log(g), (-1, 3))[0]}, "batch axes lead in every result"),
    (
        se3,
        {"dexpinv": lambda u: np.linalg.inv(se3.dexp(np.r_[u[:3], 0, 0, 0]))},
        "dexp dexpinv = 1",
    ),
    (se3, {"ad": lambda u: -se3.ad(u)}, "ad is the derivative of Ad"),
    (
        se3,
        {"Ad": lambda g: np.swapaxes(se3.Ad(se3.inverse(g)), -1, -2)},
        "exp(Ad_g u) = g exp(u) g^-1",
    ),
    # celledoni (11) as printed, without the inverse
    (
        cotangent_so3,
        {"compose": lambda g, h: (g[0] @ h[0], g[1] + np.swapaxes(g[0], -1, -2) @ h[1])},
        "associativity",
    ),
    # the direct product's dexpinv on the semidirect group
    (cotangent_so3, {"dexpinv": direct_tso3.dexpinv}, "dexp dexpinv = 1"),
]


@pytest.mark.parametrize(("group", "wrong", "property_"), MUTATIONS, ids=range(len(MUTATIONS)))
def test_the_check_names_what_is_wrong(group, wrong: dict, property_: str) -> None:
    with np.errstate(all="ignore"):
        report = check_group(broken(group, **wrong), samples=1, batches=((2,),), require=False)
    assert property_ in report.failures
    with pytest.raises(AssertionError, match="fails:(?s:.)*residual"):
        report.require()


# --- arbitrary arguments ---------------------------------------------------------------------------

entries = (
    st.floats(-3.0, 3.0)
    | st.floats(-1e-3, 1e-3)
    | st.sampled_from([0.0, 1e-300, 5e-324, np.pi, -np.pi])
)


def vectors(n: int) -> st.SearchStrategy:
    return st.lists(entries, min_size=n, max_size=n).map(np.array)


@pytest.mark.parametrize("group", [se2, so3, se3, quaternions], ids=label)
@given(data=st.data())
def test_exp_log_ad_for_any_vectors(group, data) -> None:
    u, v = data.draw(vectors(group.dim)), data.draw(vectors(group.dim))
    g, h = group.exp(u), group.exp(v)
    scale = 10.0  # |u|, |v| up to 3 sqrt 3: two translations of that size meet in a product
    assert gap(group.exp(group.log(g)), g) < 1e-13
    assert gap(group.Ad(g) @ group.Ad(h), group.Ad(group.compose(g, h))) < 1e-14 * scale
    assert gap(group.coAd(g), group.Ad(g).T) == 0.0
    moved = group.compose(group.compose(g, h), group.inverse(g))
    assert gap(group.exp(group.Ad(g) @ v), moved) < 1e-13 * scale
    assert gap(group.compose(g, group.inverse(g)), group.identity()) < 1e-14 * scale


@given(u=vectors(6), v=vectors(6))
def test_dexpinv_inverts_dexp_for_any_vectors(u: np.ndarray, v: np.ndarray) -> None:
    condition = np.linalg.cond(se3.dexp(u))
    back = se3.dexpinv(u) @ (se3.dexp(u) @ v)
    np.testing.assert_allclose(
        back, v, rtol=0, atol=1e-14 * (1.0 + condition) * (1.0 + abs(v).max())
    )


HUGE = st.floats(-1e75, 1e75, allow_nan=False)


@given(u=st.lists(HUGE, min_size=6, max_size=6).map(np.array))
def test_finite_for_every_vector_up_to_the_limit(u: np.ndarray) -> None:
    for group in (so2, se2, so3, se3, quaternions):
        x = u[: group.dim]
        for name in ("exp", "cay", "ad", "coad", "dexp", "dcay", "dcayinv", "hat"):
            assert np.isfinite(getattr(group, name)(x)).all(), (group.name, name)
        assert np.isfinite(group.log(group.exp(x))).all()
        with contextlib.suppress(ValueError):  # a multiple of 2 pi may be hit
            assert np.isfinite(group.dexpinv(x)).all()


def test_a_group_without_the_contract_is_refused() -> None:
    with pytest.raises(ValueError, match="without log, distance"):
        check_group(SimpleNamespace(**{n: 0 for n in CONTRACT if n not in ("log", "distance")}))
