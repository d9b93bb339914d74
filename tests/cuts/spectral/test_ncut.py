"""The normalised cut against all partitions of tiny graphs, and on planted ones."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from seqspan._core.threads import Team
from seqspan.cuts.spectral import ncut as _ncut
from seqspan.cuts.spectral import spectrum as _spectrum
from seqspan.cuts.spectral.affinity import SharedAffinity
from seqspan.cuts.spectral.ncut import (
    JOIN_SHARE,
    N_STARTS,
    _cut_value,
    _discretise,
    _distinct,
    _leading_vectors,
    _spread_rows,
    _unit_rows,
    _use_all_labels,
    normalised_cut,
    normalised_cuts,
)
from seqspan.metrics import clustering_error


def planted(lengths, within=1.0, noise=0.0, seed=0):
    """Blocks of affinities in [within/2, within], noise in [0, noise] between, and their labels."""
    labels = np.repeat(np.arange(len(lengths)), lengths)
    rng = np.random.default_rng(seed)
    W = np.where(
        labels[:, None] == labels,
        within * rng.uniform(0.5, 1, (len(labels),) * 2),
        noise * rng.random((len(labels),) * 2),
    )
    return (W + W.T) / 2, labels


def random_graph(n, seed):
    W = np.random.default_rng(seed).random((n, n)) ** 4
    return W + W.T


def cut_value(W, labels):
    """Sum of cut(c, rest) / assoc(c, all), from its definition."""
    return sum(
        W[labels == c][:, labels != c].sum() / max(W[labels == c].sum(), 1e-300) for c in np.unique(labels)
    )


def smallest_cut(W, n_subspaces):
    """Smallest value over all partitions into exactly n_subspaces groups."""
    candidates = (np.array(labels) for labels in product(range(n_subspaces), repeat=len(W)))
    return min(cut_value(W, labels) for labels in candidates if len(set(labels)) == n_subspaces)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("lengths", [(3, 5), (4, 4), (2, 3, 3)])
def test_no_partition_of_a_tiny_graph_cuts_less(lengths, seed):
    W, _ = planted(lengths, noise=0.3, seed=seed)
    labels = normalised_cut(W, len(lengths), rng=seed)
    assert cut_value(W, labels) == pytest.approx(smallest_cut(W, len(lengths)), rel=1e-9)


@settings(max_examples=40, deadline=None)
@given(
    order=st.lists(st.integers(0, 4), min_size=2, max_size=8),
    seed=st.integers(0, 2**31),
)
def test_planted_groups_are_found_also_when_they_return(order, seed):
    lengths = np.random.default_rng(seed).integers(5, 12, len(order))
    groups = np.repeat(order, lengths)
    rng = np.random.default_rng(seed)
    W = np.where(groups[:, None] == groups, rng.uniform(0.5, 1, (len(groups),) * 2), 0.02)
    labels = normalised_cut(W + W.T, len(set(order)), rng=seed)
    names = list(dict.fromkeys(order))  # in order of first appearance
    np.testing.assert_array_equal(labels, [names.index(group) for group in groups])


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**31), n_subspaces=st.integers(1, 20), density=st.floats(0, 1))
@example(seed=7, n_subspaces=18, density=0.1)  # the rotation alone leaves labels unused
def test_any_graph_gets_exactly_the_labels_asked_for(seed, n_subspaces, density):
    rng = np.random.default_rng(seed)
    W = rng.random((20, 20)) * (rng.random((20, 20)) < density)
    W = W + W.T
    before = W.copy()
    labels = normalised_cut(W, n_subspaces, rng=seed)
    _, first = np.unique(labels, return_index=True)
    assert len(first) == n_subspaces
    assert (np.diff(first) > 0).all()
    np.testing.assert_array_equal(W, before)
    np.testing.assert_array_equal(labels, normalised_cut(W, n_subspaces, rng=seed))


def test_the_scale_of_the_affinities_does_not_matter():
    W, labels = planted((6, 9, 7), noise=0.1)
    for scale in (1e-12, 1e12):
        np.testing.assert_array_equal(normalised_cut(scale * W, 3, rng=0), labels)


def test_samples_without_affinity_follow_their_neighbours():
    W, labels = planted((8, 8, 8))
    for lonely in (0, 4, 20, 23):
        W[lonely] = W[:, lonely] = 0
    np.testing.assert_array_equal(normalised_cut(W, 3, rng=0), labels)


def test_more_pieces_than_subspaces_are_joined_in_time():
    W, pieces = planted((6, 6, 6, 6, 6))
    labels = normalised_cut(W, 2, rng=0)
    assert np.count_nonzero(np.diff(labels)) == 1  # two spans,
    assert len(set(zip(pieces, labels, strict=True))) == 5  # no piece torn


def test_no_affinity_at_all_is_cut_into_spans():
    labels = normalised_cut(np.zeros((12, 12)), 3, rng=0)
    assert np.count_nonzero(np.diff(labels)) == 2
    assert np.bincount(labels).min() >= 3


def test_one_and_all():
    W, _ = planted((2, 3))
    assert normalised_cut(W, 1).tolist() == [0] * 5
    assert normalised_cut(W, 5).tolist() == [0, 1, 2, 3, 4]
    assert normalised_cut([[0.0]], 1).tolist() == [0]


def test_signs_and_bases_of_the_eigenvectors_do_not_matter(monkeypatch):
    W, _ = planted((7, 9, 8, 10), noise=0.4, seed=3)
    expected = normalised_cut(W, 4, rng=1)
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((4, 4)))[0]

    def turned(*arguments, **options):
        values, vectors = _spectrum.leading_eigenpairs(*arguments, **options)
        return values, vectors @ turn

    monkeypatch.setattr("seqspan.cuts.spectral.ncut.leading_eigenpairs", turned)
    np.testing.assert_array_equal(normalised_cut(W, 4, rng=1), expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_large_graphs_take_the_implicit_way_and_agree_with_the_dense_one(dtype, monkeypatch):
    W, labels = planted((200, 150, 250, 100), noise=0.2, seed=5)
    W = W.astype(dtype)
    W.setflags(write=False)
    dense = normalised_cut(W, 4, rng=0)
    monkeypatch.setattr(_spectrum, "DENSE_LIMIT", 100)
    monkeypatch.setattr(_spectrum, "symmetric_eigenpairs", refuse_large(_spectrum.symmetric_eigenpairs, 100))
    np.testing.assert_array_equal(normalised_cut(W, 4, rng=0), dense)
    np.testing.assert_array_equal(dense, labels)


def refuse_large(solver, limit):
    """The same dense eigen-solver, but not for matrices of the size of W."""

    def guarded(matrix, **options):
        assert len(matrix) <= limit
        return solver(matrix, **options)

    return guarded


def test_degrees_are_sums_in_double_precision():
    W = np.random.default_rng(0).random((3000, 3), dtype=np.float32).T
    np.testing.assert_allclose(_spectrum.degrees(W), W.astype(float).sum(axis=1), rtol=1e-14)


def test_the_krylov_space_has_six_blocks():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((60, 60))
    A, block = A + A.T, np.linalg.qr(rng.standard_normal((60, 2)))[0]
    basis, image = _spectrum._krylov_basis(lambda V: A @ V, block)
    powers = np.hstack([np.linalg.matrix_power(A / 20, k) @ block for k in range(6)])
    assert basis.shape == powers.shape
    np.testing.assert_allclose(basis.T @ basis, np.eye(12), atol=1e-12)
    np.testing.assert_allclose(basis @ (basis.T @ powers), powers, atol=1e-9)
    np.testing.assert_allclose(image, A @ basis)


def test_pieces_of_a_large_graph_are_not_missed(monkeypatch):
    monkeypatch.setattr(_spectrum, "DENSE_LIMIT", 100)
    W, labels = planted([40] * 12)  # the eigenvalue 1 is repeated twelvefold, but for the ties in time
    np.testing.assert_array_equal(normalised_cut(W, 12, rng=0), labels)


def test_eigenvalues_of_the_implicit_way_are_those_of_numpy(monkeypatch):
    monkeypatch.setattr(_spectrum, "DENSE_LIMIT", 100)
    A = np.random.default_rng(2).standard_normal((300, 300))
    A = A + A.T
    exact = np.linalg.eigvalsh(A)
    values, vectors = _spectrum.leading_eigenpairs(_spectrum.Operator(lambda V: A @ V, 300), 4, tol=1e-8)
    np.testing.assert_allclose(values, exact[::-1][:4], rtol=1e-10)  # error is the square of the residual
    np.testing.assert_allclose(A @ vectors, vectors * values, atol=1e-6)
    sizes = _spectrum.leading_eigenpairs(_spectrum.Operator(lambda V: A @ V, 300), 4, by_magnitude=True)[0]
    np.testing.assert_allclose(np.abs(sizes), np.sort(np.abs(exact))[::-1][:4], rtol=1e-8)


def test_eigenpairs_on_a_device_are_those_of_its_own_library(monkeypatch):
    A = np.random.default_rng(0).standard_normal((6, 6))
    A = A + A.T
    monkeypatch.setattr(_spectrum, "is_on_gpu", lambda array: True)
    values, vectors = _spectrum._eigenpairs(A)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(A))
    np.testing.assert_allclose(A @ vectors, vectors * values, atol=1e-12)


def test_the_iteration_starts_from_slow_cosines():
    start = _spectrum._smooth_start(200, 4)
    np.testing.assert_allclose(start.T @ start, np.eye(4), atol=1e-12)
    cosines = np.cos(np.pi * np.outer((np.arange(200) + 0.5) / 200, np.arange(4)))
    angles = np.linalg.svd(start.T @ np.linalg.qr(cosines)[0], compute_uv=False)
    assert np.all(angles > 0.95)  # of the two spaces
    assert np.all(angles < 1)  # some noise for graphs without an order in time
    np.testing.assert_array_equal(start, _spectrum._smooth_start(200, 4))


@pytest.mark.parametrize(
    "A",
    [
        2 * np.eye(400),
        np.kron(np.eye(5), np.ones((80, 80)) / 80),
        np.ones((400, 400)),
        np.zeros((400, 400)),
        np.diag(np.repeat([1.0, 3.0, 2.0], [100, 5, 295])),
    ],
    ids=["identity", "blocks", "one block", "nothing", "three values"],
)
def test_operators_of_few_different_eigenvalues_are_no_trouble(A, monkeypatch):
    """Their products soon lead nowhere new, and what is left then is rounding."""
    monkeypatch.setattr(_spectrum, "DENSE_LIMIT", 10)
    values, vectors = _spectrum.leading_eigenpairs(_spectrum.Operator(lambda V: A @ V, 400), 6, tol=1e-8)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(A)[::-1][:6], atol=1e-9)
    np.testing.assert_allclose(A @ vectors, vectors * values, atol=1e-7)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(6), atol=1e-12)


def test_eigenvectors_that_cannot_be_told_apart_warn(monkeypatch):
    monkeypatch.setattr(_spectrum, "DENSE_LIMIT", 100)
    A = np.random.default_rng(2).standard_normal((300, 300))
    A = A + A.T
    with pytest.warns(
        ConvergenceWarning, match=r"4 leading .* 1e-30 was asked for\. .*: try fewer subspaces\.$"
    ):
        values = _spectrum.leading_eigenpairs(_spectrum.Operator(lambda V: A @ V, 300), 4, tol=1e-30)[0]
    np.testing.assert_allclose(values, np.linalg.eigvalsh(A)[::-1][:4])


@pytest.mark.parametrize(
    ("W", "message"),
    [
        (np.ones((2, 3)), r"square matrix of affinities; got shape \(2, 3\)"),
        (np.ones((0, 0)), "square matrix"),
        (-np.eye(3), "non-negative affinities; got entries from -1.0"),
        (np.full((3, 3), np.nan), "finite, non-negative"),
        (np.full((3, 3), np.inf), "finite, non-negative"),
        (np.triu(np.ones((4, 4))), r"^W must be symmetric, as \|Z\| \+ \|Z\|\^T is;"),
    ],
)
def test_what_is_no_affinity_is_refused(W, message):
    with pytest.raises(ValueError, match=message):
        normalised_cut(W, 1)


@pytest.mark.parametrize("n_subspaces", [0, 5])
def test_impossible_numbers_are_named(n_subspaces):
    with pytest.raises(ValueError, match=rf"in \[1, 4\] for 4 samples; got {n_subspaces}"):
        normalised_cut(np.eye(4), n_subspaces)
    with pytest.raises(ValueError, match="n_starts must be at least 1; got 0"):
        normalised_cut(np.eye(4), 2, n_starts=0)


@pytest.mark.parametrize("dtype", [int, bool, np.float16])
def test_other_kinds_of_numbers_are_affinities_too(dtype):
    groups = np.repeat([0, 1, 0, 1], 3)
    W = (groups[:, None] == groups).astype(dtype)
    np.testing.assert_array_equal(normalised_cut(W, 2, rng=0), groups)


def test_more_starts_never_cut_more():
    better = 0
    for seed in range(20):
        W = np.random.default_rng(seed).random((30, 30)) ** 8
        W = W + W.T
        ties = 0.01 * W.sum(axis=1).mean() * (np.eye(30, k=1) + np.eye(30, k=-1))
        one, many = (cut_value(W + ties, normalised_cut(W, 5, rng=seed, n_starts=n)) for n in (1, 15))
        assert many <= one + 1e-12  # the first start is the same
        better += many < one - 1e-3
    assert better > 0


def test_many_cuts_are_the_single_cuts():
    rng = np.random.default_rng(3)
    W = np.kron(np.eye(4), np.ones((9, 9))) + 0.05 * rng.random((36, 36))
    W = W + W.T
    together = normalised_cuts(W, [1, 2, 4, 5, 36], rng=0)
    assert sorted(together) == [1, 2, 4, 5, 36]
    for k, labels in together.items():
        np.testing.assert_array_equal(labels, normalised_cut(W, k, rng=0))
    with pytest.raises(ValueError, match="got 37"):
        normalised_cuts(W, [2, 37])


def test_many_cuts_are_the_single_cuts_where_every_default_counts():
    for seed in range(12):
        W = 1e-3 * np.random.default_rng(seed).random((30, 30)) ** 8
        W = W + W.T
        np.testing.assert_array_equal(normalised_cuts(W, [5], rng=seed)[5], normalised_cut(W, 5, rng=seed))


@pytest.mark.parametrize(("numbers", "needed"), [([1], 0), ([30], 0), ([1, 3, 30], 3), ([2, 29, 30], 29)])
def test_as_many_eigenvectors_are_computed_as_are_needed(numbers, needed, monkeypatch):
    """One label and as many as samples need none."""
    counts = []
    monkeypatch.setattr(
        _ncut, "_leading_vectors", lambda *given: counts.append(given[-1]) or _leading_vectors(*given)
    )
    normalised_cuts(random_graph(30, 0), numbers, rng=0)
    assert counts == [needed]


@pytest.mark.parametrize(("W", "teams"), [(random_graph(12, 0), []), (np.ones((2, 12)), [1])])
def test_small_products_of_shared_affinities_have_one_thread(W, teams, monkeypatch):
    asked = []
    monkeypatch.setattr(_ncut, "Team", lambda n_jobs: asked.append(n_jobs) or Team(n_jobs))
    normalised_cut(SharedAffinity(W) if teams else W, 2, rng=0)
    assert asked == teams


def test_an_offset_equals_the_eigenvectors_of_the_matrix_written_out():
    rng = np.random.default_rng(3)
    W = np.kron(np.eye(3), np.ones((8, 8))) + 0.6 * rng.random((24, 24))
    W = 0.02 * (W + W.T)  # degrees far below the offset, as OSC's
    d = W.sum(axis=1) + 1.0
    P = (W + 0.5 * np.eye(24)) / np.sqrt(np.outer(d, d))
    vectors = np.linalg.eigh(P)[1][:, ::-1][:, :3]
    found = _leading_vectors(W, 1e-12, 0.5, 3)
    assert np.abs(found.T @ vectors) == pytest.approx(np.eye(3), abs=1e-6)


def test_a_weak_link_leaves_the_order_out():
    rng = np.random.default_rng(0)
    W = np.kron(np.eye(2), np.ones((10, 10))) + 0.9 * rng.random((20, 20))
    W = W + W.T
    shuffled = rng.permutation(20)
    labels = normalised_cut(W, 2, rng=0, link=1e-9)
    again = normalised_cut(W[np.ix_(shuffled, shuffled)], 2, rng=0, link=1e-9)
    assert clustering_error(labels[shuffled], again) == 0


def shared(groups, dtype=float, seed=0):
    """Affinity of samples that are represented by four atoms for each group, a little by the others."""
    rng = np.random.default_rng(seed)
    owners = np.repeat(np.unique(groups), 4)
    Z = np.where(owners[:, None] == groups, rng.uniform(0.5, 1, (len(owners), len(groups))), 0)
    return SharedAffinity((Z + 0.1 * rng.random(Z.shape)).astype(dtype))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("limit", [0, 1000])  # the implicit way, and the dense one
def test_a_shared_affinity_is_cut_as_if_it_were_written_out(dtype, limit, monkeypatch):
    monkeypatch.setattr(_spectrum, "DENSE_LIMIT", limit)
    groups = np.repeat([0, 1, 2, 1], [32, 29, 34, 30])
    W = shared(groups, dtype)
    dense = W.multiply(np.eye(len(W)))
    np.testing.assert_array_equal(normalised_cut(W, 3, rng=0), groups)
    assert normalised_cuts(W, [1, len(W)], rng=0)[1].tolist() == [0] * len(W)
    implicit, written = (_leading_vectors(A, 0.1, 0.2, 3) for A in (W, (dense + dense.T) / 2))
    # both span one space; the angle between them is the residual, 1e-3, over the gap between eigenvalues
    np.testing.assert_allclose(np.linalg.svd(implicit.T @ written, compute_uv=False), 1, atol=1e-4)


def test_ties_are_weak_where_another_recording_begins():
    ties = _ncut._tie_neighbours(6, 2.0, (2, 5), np)[:, 0]
    np.testing.assert_allclose(ties, [2, 2 * JOIN_SHARE, 2, 2, 2 * JOIN_SHARE])  # of samples 1 and 2, 4 and 5


def test_labels_can_be_used_as_indices():
    names = np.array(["a", "b", "c"])
    W, _ = planted((1, 2))
    for number in (1, 2, 3):
        assert len(set(names[normalised_cut(W, number, rng=0)])) == number


@pytest.mark.parametrize("first", range(8))
def test_the_rotation_starts_from_one_row_of_each_group(first):
    rows = np.repeat(np.eye(4), 2, axis=0) @ np.linalg.qr(np.random.default_rng(7).standard_normal((4, 4)))[0]
    start = _spread_rows(rows, np.array([first]))[0]
    np.testing.assert_array_equal(start[:, 0], rows[first])
    np.testing.assert_allclose(start.T @ start, np.eye(4), atol=1e-12)


def test_labels_and_rotation_are_the_best_for_each_other():
    """From any start: the rotation nearest to the labels found gives those labels again."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        rows = _unit_rows(rng.standard_normal((40, 4)))
        (labels,) = _discretise(rows, np.linalg.qr(rng.standard_normal((1, 4, 4)))[0])
        left, _, right = np.linalg.svd(np.eye(4)[labels].T @ rows)
        np.testing.assert_array_equal((rows @ (left @ right).T).argmax(axis=1), labels)


def rows_to_discretise(k, noise, seed):
    """Unit rows of noisy blocks, and where the starts begin."""
    rng = np.random.default_rng(seed)
    W, _ = planted(rng.multinomial(80 - k, np.full(k, 1 / k)) + 1, noise=noise, seed=seed)
    return _unit_rows(_leading_vectors(W, 0.1, 0.0, k)), rng.integers(80, size=N_STARTS)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("noise", [0.0, 0.3, 2.0])
@pytest.mark.parametrize("k", [2, 5, 9])
def test_all_starts_at_once_are_the_starts_one_by_one(k, noise, seed):
    """A GPU takes them together."""
    rows, firsts = rows_to_discretise(k, noise, seed)
    for first, start in zip(firsts, _spread_rows(rows, firsts), strict=True):
        np.testing.assert_array_equal(_spread_rows(rows, np.array([first]))[0], start)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("noise", [0.0, 0.3, 0.6])  # at 2, the last digit decides where a start ends
@pytest.mark.parametrize("k", [2, 5, 9])
def test_all_starts_at_once_end_where_they_end_one_by_one(k, noise, seed):
    rows, firsts = rows_to_discretise(k, noise, seed)
    starts = _spread_rows(rows, firsts)
    together = _discretise(rows, starts)
    alone = [labels for start in starts for labels in _discretise(rows, start[None])]
    np.testing.assert_array_equal(np.sort(together, axis=0), np.sort(alone, axis=0))


@pytest.mark.parametrize("k", [1, 3, 7, 12])
def test_labels_on_a_gpu_are_those_on_the_host(k, monkeypatch):
    W = random_graph(12, seed=k)
    expected = normalised_cut(W, k, rng=0)
    blocks = []
    discretise = _discretise

    def spy(rows, rotations):
        blocks.append(len(rotations))
        return discretise(rows, rotations)

    monkeypatch.setattr(_ncut, "is_on_gpu", lambda array: True)  # NumPy's arrays stand for CuPy's
    monkeypatch.setattr(_ncut, "_discretise", spy)
    np.testing.assert_array_equal(normalised_cut(W, k, rng=0), expected)
    assert blocks == ([N_STARTS] if 1 < k < 12 else [])


def test_functions_are_of_the_library_that_arrays_are_of(monkeypatch):
    """On a GPU, NumPy's would copy them to the host, or fail."""

    def library(array):
        assert isinstance(array, np.ndarray)
        return np

    monkeypatch.setattr(_ncut, "namespace", library)
    W, labels = planted([8, 9, 8])
    np.testing.assert_array_equal(normalised_cut(W, 3, rng=0), labels)


def test_no_label_is_left_unused_if_nothing_tells_samples_apart():
    np.testing.assert_array_equal(np.unique(normalised_cut(np.ones((20, 20)), 7, rng=0)), np.arange(7))


@given(found=st.lists(st.lists(st.integers(0, 300), min_size=3, max_size=3), min_size=1, max_size=9))
def test_candidates_are_distinct_and_in_lexicographic_order(found):
    candidates = _distinct([np.array(labels) for labels in found])
    np.testing.assert_array_equal(candidates, np.unique(found, axis=0))


def test_a_search_that_never_rests_ends(monkeypatch):
    """After the last iteration, labels are those of the last rotation."""
    rows = _unit_rows(np.random.default_rng(1).standard_normal((40, 4)))
    start = np.linalg.qr(np.random.default_rng(2).standard_normal((2, 4, 4)))[0]
    monkeypatch.setattr(_ncut, "MAX_ITERATIONS", 1)
    found = _discretise(rows, start)
    for labels, rotation in zip(found, start, strict=True):
        nearest = (rows @ rotation).argmax(axis=1)
        assert clustering_error(nearest, labels) == 0


@pytest.mark.parametrize("n_subspaces", [2, 3])
def test_the_value_of_a_cut_is_its_definition(n_subspaces):
    W, _ = planted((5, 6, 7), noise=0.5, seed=2)
    tied = W + 0.3 * (np.eye(18, k=1) + np.eye(18, k=-1))
    for seed in range(5):
        labels = np.random.default_rng(seed).permutation(np.arange(18) % n_subspaces)
        assert _cut_value(W, 0.3, labels, n_subspaces) == pytest.approx(cut_value(tied, labels))


def test_an_unused_label_goes_to_the_sample_that_fits_worst_and_leaves_no_group_empty():
    all_alike = np.array([[0.9, 0.1, 0.0], [0.8, 0.0, 0.1], [0.7, 0.1, 0.0], [0.95, 0.1, 0.0]])
    assert _use_all_labels(all_alike.argmax(axis=1), all_alike).tolist() == [0, 2, 1, 0]
    one_alone = np.array([[0.9, 0.1, 0.0], [0.8, 0.1, 0.0], [0.1, 0.3, 0.0]])
    assert _use_all_labels(one_alone.argmax(axis=1), one_alone).tolist() == [0, 2, 1]
    all_used = np.eye(3)
    assert _use_all_labels(all_used.argmax(axis=1), all_used).tolist() == [0, 1, 2]


@pytest.mark.parametrize("size", [1e-100, 1.0, 1e100])
def test_rows_of_any_length_become_unit_rows_but_for_zeros(size):
    rows = _unit_rows(size * np.array([[3.0, 4.0], [0.0, 0.0], [-1.0, 0.0]]))
    np.testing.assert_allclose(rows, [[0.6, 0.8], [0, 0], [-1, 0]])


@pytest.mark.parametrize(
    "wrong", [{"link": 0.0}, {"link": np.nan}, {"link": np.inf}, {"offset": -1.0}, {"offset": np.inf}]
)
def test_a_wrong_link_or_offset_is_named(wrong):
    given = f"got {wrong.get('link', 0.01)} and {wrong.get('offset', 0.0)}"
    with pytest.raises(ValueError, match=f"link must be positive and offset not negative; {given}"):
        normalised_cut(np.eye(4), 2, **wrong)
