"""What people demand of a run and what they excuse: profiles, waivers, baselines."""
