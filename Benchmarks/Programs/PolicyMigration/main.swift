import Batch
import BatchCommand

GodwitCommand.main(policies: [RowPolicy.self])
