"""A process that has everything imported and has started no thread, to be forked for each job.

A job is a function of ``judge`` or ``places``; what it returns, or its failure, comes back as JSON.
"""

import json
import os
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

Call = Callable[..., Any]


class JobFailedError(AssertionError):
    """What a job asserted does not hold."""


@contextmanager
def warm() -> Iterator[Call]:
    """Start the process; yield what has a job done by a fork of it."""
    here = Path(__file__).parents[1]
    paths = [str(here), str(here.parent / "src")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "OPENBLAS_NUM_THREADS": "1"}
    words = [sys.executable, "-W", "error", "-m", "support.warm"]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(words, env=environment, text=True, **pipes) as process:
        asked, said = process.stdin, process.stdout
        assert asked is not None
        assert said is not None

        def call(job: str, **given: Any) -> Any:
            asked.write(json.dumps([job, given]) + "\n")
            asked.flush()
            done, failed = json.loads(said.readline())
            if failed:
                raise JobFailedError(failed)
            return done

        try:
            yield call
        finally:
            asked.close()
            process.wait(timeout=60)


def main() -> None:
    """Do job after job."""
    from support import judge, places

    for line in sys.stdin:
        job, given = json.loads(line)
        child = os.fork()
        if not child:
            said: list[Any] = [None, "it died"]
            try:
                work = getattr(judge, job, None) or getattr(places, job)
                said = [work(**given), ""]
            except BaseException:  # noqa: BLE001  # all of it is reported
                said = [None, traceback.format_exc()]
            finally:
                sys.stdout.write(json.dumps(said) + "\n")
                sys.stdout.flush()
                os._exit(0)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
