import threading
from typing import Any

import numpy as np
import pytest

from halfnoise.errors import InvalidParameterError
from halfnoise.noise import rounded_gaussian, rounded_laplace
from halfnoise.noise.rounded import draw
from halfnoise.noise.staircase import gaussian_table
from support.scripted import Script

BOTH = pytest.mark.parametrize("noise", [rounded_gaussian, rounded_laplace])


@BOTH
@pytest.mark.parametrize(
    ("scale", "size", "shape"),
    [
        (1.0, 5, (5,)),
        (1, (2, 3), (2, 3)),
        (1.0, [4], (4,)),
        (1.0, (), ()),
        (1.0, 0, (0,)),
        (1.0, (3, 0), (3, 0)),
        ([1.0, 2.0], None, (2,)),
        (np.ones((2, 3)), None, (2, 3)),
        (np.ones((2, 1)), (2, 3), (2, 3)),
        (np.array([1, 2], dtype=np.int32), None, (2,)),
        ([], None, (0,)),
        (np.ones((4, 6))[:, ::2], None, (4, 3)),
        (np.float32(2), np.int64(3), (3,)),
    ],
)
def test_result_has_the_shape_asked_for(
    noise: Any, scale: Any, size: Any, shape: tuple[int, ...]
) -> None:
    """An int64 array of the size given, or else of the scales' shape."""
    result = noise(scale, size)
    assert isinstance(result, np.ndarray)
    assert result.shape == shape
    assert result.dtype == np.int64


@BOTH
def test_one_scale_gives_one_integer(noise: Any) -> None:
    """Without a size, a number gives a number, as NumPy's generators do."""
    assert type(noise(1.0)) is int
    assert type(noise(np.float64(3))) is int


@BOTH
@pytest.mark.parametrize(
    "scale",
    [
        0,
        -1.0,
        9.99e-4,
        2.0**36 * (1 + 2**-52),
        float("nan"),
        float("inf"),
        "1",
        None,
        True,
        1j,
        10**30,
        [1.0, float("nan")],
        [1.0, 0.0],
        [[1.0], [1.0, 2.0]],
        np.longdouble(1),
    ],
    ids=repr,
)
def test_scales_out_of_range_are_refused(noise: Any, scale: Any) -> None:
    """A clear error says the rule and the remedy."""
    with pytest.raises(
        InvalidParameterError, match=r"^scale must be a number from 0.001 to 2\*\*36"
    ):
        noise(scale)


@BOTH
def test_a_scale_out_of_range_is_refused_wherever_it_stands(noise: Any) -> None:
    """The last of many scales is looked at too, and so is a scale that no noise is drawn with."""
    many = np.ones(300_000)
    many[-1] = 0
    for scale, size in ((many, None), (0.0, 0), ([0.0], (2, 0))):
        with pytest.raises(InvalidParameterError, match=r"^scale must be a number.*got 0.0"):
            noise(scale, size)


@BOTH
@pytest.mark.parametrize("size", [-1, 1.5, "3", True, (2, -1), (2, None)], ids=repr)
def test_sizes_that_are_none_are_refused(noise: Any, size: Any) -> None:
    """A size is a whole number of at least zero, or several."""
    with pytest.raises(InvalidParameterError, match=r"^size must be a whole number"):
        noise(1.0, size)


@BOTH
def test_scales_that_do_not_fit_the_size_are_refused(noise: Any) -> None:
    """Scales are spread over the result as NumPy broadcasts."""
    with pytest.raises(InvalidParameterError, match=r"^size must be a shape that scale's"):
        noise([1.0, 2.0], 3)


@BOTH
def test_ends_of_the_range_are_allowed(noise: Any) -> None:
    """The smallest scale gives zeros, the largest one numbers of its order."""
    assert not noise(1e-3, 10_000).any()
    assert 2**35 < np.abs(noise(2.0**36, 10_000)).mean() < 2**37


@BOTH
def test_each_entry_has_its_own_scale(noise: Any) -> None:
    """Tiny and large scales side by side, whether in one block, broadcast or in steps of a view."""
    scales = np.where(np.arange(100_000) % 2, 1e-3, 2.0**30)
    for given, size in (
        (scales, None),
        (np.repeat(scales, 2)[::2], None),
        (scales[:2], (50_000, 2)),
    ):
        result = noise(given, size).reshape(-1)
        assert not result[1::2].any()
        assert np.abs(result[::2]).mean() > 2.0**28


def test_scripted_bits_give_scripted_noise() -> None:
    """The internal source is an argument: the same words give the same noise."""
    words = [0x9999_9999_9999_9999] * 9
    first, second = (draw(gaussian_table(), 1000.0, 1, Script(words)) for _ in range(2))
    assert first == second


@BOTH
def test_threads_draw_side_by_side(noise: Any) -> None:
    """Concurrent calls do not disturb each other: no buffer is shared."""
    results: list[Any] = []
    threads = [
        threading.Thread(target=lambda: results.append(noise(2.0**36, 200_000))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # Among 800,000 numbers of scale 2^36 a few hundred thousandths coincide by chance.
    assert len(np.unique(np.concatenate(results))) > 800_000 * 0.9999
