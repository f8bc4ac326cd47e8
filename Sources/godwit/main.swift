import BatchCommand

GodwitCommand.main(policies: [])
