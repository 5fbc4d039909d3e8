"""What a frame of Spark stands for: files whose rows are the same in every scan, or anything."""

from typing import Any, Self

from halfnoise.errors import TryAgainError
from halfnoise.values import dataclass, field

# What makes of the same rows the same rows; a limit, a sample or a function of Python's might not.
_PLAIN = {"Filter", "LocalRelation", "LogicalRelation", "Project", "SubqueryAlias", "Union", "View"}
_LISTED = "InMemoryFileIndex"  # files that were listed once, when the frame was made
# Functions of users may say what they like, and a query within another is looked at nowhere here.
_OTHERS = ("PLAN_EXPRESSION", "PYTHON_UDF", "SCALA_UDF")
_PATTERNS = "org.apache.spark.sql.catalyst.trees.TreePattern"
_MOST = 1000  # files that are looked at again
_FACTS = ("getLen", "getModificationTime")


@dataclass(frozen=True, slots=True)
class FixedFiles:
    """Files that a frame reads, each as it was when they were listed."""

    files: list[Any] = field(repr=False)  # Hadoop's FileStatus
    settings: Any = field(repr=False)

    @classmethod
    def below(cls, frame: Any) -> Self | None:
        """Return the files of a frame that is made of nothing else, and None where it may be.

        A scan more costs less than a copy of the rows, and where a worker dies, what it had read is
        just read again.
        """
        try:
            session, plan = frame.sparkSession, frame._jdf.queryExecution().analyzed()  # noqa: SLF001
            patterns = getattr(session._jvm, _PATTERNS)  # noqa: SLF001
            own = (plan.containsPattern(getattr(patterns, name)()) for name in _OTHERS)
            files = None if not plan.deterministic() or any(own) else _files(plan)
            settings = session._jsparkSession.sessionState().newHadoopConf()  # noqa: SLF001
        except Exception:  # noqa: BLE001  # another version, or a session without a JVM
            return None
        return None if files is None or len(files) > _MOST else cls(files, settings)

    def check(self) -> None:
        """Refuse files that were written to since: each scan may have found other rows."""
        for each in self.files:
            path = each.getPath()
            now = path.getFileSystem(self.settings).getFileStatus(path)
            if any(getattr(now, fact)() != getattr(each, fact)() for fact in _FACTS):
                said = "a file changed while it was read; release a copy that nobody writes to"
                raise TryAgainError(said)


def _files(plan: Any) -> list[Any] | None:
    """Return the files that a plan reads, or None where it reads or does anything else."""
    kind = plan.getClass().getSimpleName()
    if kind not in _PLAIN:
        return None
    found = []
    if kind == "LogicalRelation":
        location = plan.relation().location()
        if location.getClass().getSimpleName() != _LISTED:
            return None
        found = _each(location.allFiles())
    for child in _each(plan.children()):
        files = _files(child)
        if files is None:
            return None
        found += files
    return found


def _each(listed: Any) -> list[Any]:
    return [listed.apply(i) for i in range(listed.size())]
