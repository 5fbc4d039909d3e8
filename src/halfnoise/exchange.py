"""A release as JSON and back: a versioned schema, so that old files stay readable."""

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np

from halfnoise import privacy as definitions
from halfnoise.calibration import round_up
from halfnoise.checks import refuse
from halfnoise.design.covariance import Covariance, Run, Shared
from halfnoise.design.noise import Noise
from halfnoise.errors import DataError
from halfnoise.inference import Errors, Estimate
from halfnoise.privacy import ApproxDP, GaussianDP, Privacy, PureDP
from halfnoise.result import NOISE_ONLY, Question, Release

SCHEMA = 1


def to_dict(release: Release) -> dict[str, Any]:
    """Return a release as plain values."""
    size = release.size
    return {
        "schema": SCHEMA,
        "guarantee": guarantee_dict(release.guarantee, release.privacy),
        "level": release.level,
        "intervals": NOISE_ONLY,
        "size": None if size is None else _estimate_dict(size),
        "queries": [
            {"name": each.name, "kind": kind} | _estimate_dict(each)
            for kind, each in release.rows()
            if kind != "size"
        ],
        "notes": release.notes(),
        "rounded": release.rounded_values,
        **release.facts,
        "values": {
            "estimates": release.values.tolist(),
            "known_size": release.known_size,
            "questions": [_question_dict(question) for question in release.questions],
            "noise": release.errors.noise.value,
            "covariance": _covariance_dict(release.errors.covariance),
        },
    }
