import Glibc

extension StreamsError {
  /// Turns `errno` into an error that says what to do. ENOSPC and EDQUOT get a code of their own, because the remedy
  /// is the person's and the run can be resumed afterwards.
  public static func system(_ number: Int32, _ action: String, path: String) -> StreamsError {
    let reason = String(cString: strerror(number))
    return StreamsError(code(for: number), "cannot \(action): \(reason)", path: path, hint: hint(for: number))
  }

  private static func code(for number: Int32) -> Code {
    switch number {
    case ENOSPC, EDQUOT: .diskFull
    case EAGAIN, EBUSY, ETXTBSY: .locked
    default: .inputOutput
    }
  }

  private static func hint(for number: Int32) -> String? {
    switch number {
    case ENOSPC: "Free space on this file system, then start again"
    case EDQUOT: "A quota is reached; free space or raise it, then start again"
    case EACCES, EPERM: "Check the owner and the permissions of the file and of its directory"
    case EROFS: "The file system is mounted read-only; name a destination on another one"
    case ELOOP: "A symbolic link is in the place of the file; remove it or name the file that it leads to"
    case EMFILE, ENFILE: "Too many files are open; raise the limit (ulimit -n) and start again"
    case ENOMEM: "Memory is limited; raise the limit (ulimit -v, or the container's) and start again"
    case EFBIG:
      "The file system or a limit (ulimit -f) forbids a file of this size; raise the limit or name another disk"
    case EIO: "The device reported a fault; look at the system log before trusting this file"
    case ENOLCK, EOPNOTSUPP: "The file system lacks this feature; use a local one"
    case ENAMETOOLONG: "Choose a shorter file name"
    default: nil
    }
  }
}
