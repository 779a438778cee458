"""What one submission earned."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .notebook import Part


@dataclass
class PartScore:
    """One cell of hidden tests: the points earned, and the sentence that says why not all."""

    part: Part
    earned: float = 0.0
    message: str = ""

    @classmethod
    def of(cls, part: dict[str, Any], earned: float, message: str) -> PartScore:
        return cls(Part(**part), earned, message)


@dataclass
class Result:
    """What one submission earned."""

    student: str
    path: Path
    assignment: str = ""
    parts: list[PartScore] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # what happened to the submission as a whole
    complaints: dict[int, str] = field(default_factory=dict)  # cell -> error
    log: str = ""
    seconds: float = 0.0
    failed: bool = False  # the grader itself failed on it: look at it by hand
    submitted: str = ""  # when, as far as is known (ISO)
    days_late: int = 0
    penalty: float = 0.0  # points taken away for being late
    override: float | None = None  # the points that a teacher gave instead
    comment: str = ""

    @property
    def questions(self) -> dict[str, tuple[float, float]]:
        """Question -> points earned, points possible."""
        total: dict[str, tuple[float, float]] = {}
        for score in self.parts:
            if score.part.points:
                earned, possible = total.get(score.part.question, (0.0, 0.0))
                total[score.part.question] = (earned + score.earned, possible + score.part.points)
        return total

    @property
    def earned(self) -> float:
        return sum(score.earned for score in self.parts)

    @property
    def possible(self) -> float:
        return sum(score.part.points for score in self.parts)

    @property
    def final(self) -> float:
        """What counts: the teacher's points, or those earned less the penalty."""
        return self.override if self.override is not None else max(0.0, self.earned - self.penalty)

    @property
    def report(self) -> str:
        """Name of the file of its report, without an ending: plain, and different for different students."""
        plain = "".join(
            c if c.isascii() and (c.isalnum() or c in "-_") else "_" for c in self.student
        ).strip("-_")[:60]
        key = f"{self.student}\n{self.assignment}".encode("utf-8", "surrogatepass")
        return f"{plain or 'student'}-{hashlib.sha256(key).hexdigest()[:8]}.md"
