import Foundation
import RunSupport
import Testing

/// Commands in messages are pasted: names in them must not become commands.
@Suite("Words for a shell")
struct ShellWordsTests {
  @Test(
    "A shell takes a quoted word as it is",
    arguments: [
      "plain", "", "a b", "a'b", "a'\u{301}; exit 9", "'\u{20DD}$(exit 9)", "a\r\nb", "\u{1B}[1m'\u{301}; exit 9",
      "$HOME `id` \\ \"",
    ])
  func shell(word: String) throws {
    let (process, output) = (Process(), Pipe())
    process.executableURL = URL(fileURLWithPath: "/bin/bash")
    process.arguments = ["-c", "printf %s " + ShellWords.quoted(word)]
    process.standardOutput = output
    try process.run()
    let read = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    #expect(Array(read) == Array(word.utf8), "\(ShellWords.quoted(word))")
  }
}
