"""What several pages say of a group: its row, verdict, members, prediction and recorded rebalances."""
