import Testing

@testable import RunSupport

@Suite("Commands that messages advise")
struct AdvisedCommandTests {
  @Test("A path that begins with a dash is no option; words of other programs stay as they are")
  func dashes() {
    let command = ProgramName.command("export", "-x y.sqlite", "--raw", "-D", "A").line
    #expect(command.hasSuffix(" export './-x y.sqlite' --raw -D A"), "\(command)")
    #expect(ShellWords.line(["kill", "-CONT", "7"]) == "kill -CONT 7")
  }
}
