"""What a run found, case by case: suite and record put together, and what is asked of them."""
