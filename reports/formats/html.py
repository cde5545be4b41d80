"""`index.html`: the report for people; of several runs of one suite one page, side by side."""

from __future__ import annotations

from reports.pages.report_page import write_report as write_together

__all__ = ["write_together"]
