"""Figures: functions that take results and return them on paper."""
