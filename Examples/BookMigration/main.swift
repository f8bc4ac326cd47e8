import BatchCommand

GodwitCommand.main(policies: [MHWBookToBookPolicy.self, MHWUserToUserPolicy.self, LibraryBookPolicy.self])
