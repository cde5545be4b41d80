"""Work given to a cluster that somebody has, through Dask's `distributed`."""
