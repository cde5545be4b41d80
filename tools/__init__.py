"""What makes docs, locks and measured data of the checkout, and checks its code; in no wheel."""
