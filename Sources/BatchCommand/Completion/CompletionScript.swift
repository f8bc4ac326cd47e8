import ArgumentParser
import Batch

/// What a shell reads once, so that it asks the program for everything that can be completed.
enum CompletionScript {
  static func text(_ shell: CompletionShell, _ program: String) -> String {
    let function = "_" + program.map { $0.isLetter || $0.isNumber ? String($0) : "_" }.joined()
    let script =
      switch shell {
      case .zsh: zsh
      case .fish: fish
      default: bash
      }
    return script.replacing("@FUNCTION@", with: function).replacing("@REQUEST@", with: CompletionAnswer.request)
      .replacing("@PROGRAM@", with: ShellWords.quoted(program))
  }

  // The shell quotes what is inserted; nothing that the program prints is expanded.
  private static let bash = #"""
    @FUNCTION@() {
        local candidate
        COMPREPLY=()
        while IFS= read -r candidate; do
            COMPREPLY+=("$candidate")
        done < <("${1/#\~\//$HOME/}" @REQUEST@ bash "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
    }
    complete -o filenames -o nosort -F @FUNCTION@ @PROGRAM@ 2>/dev/null || complete -o filenames -F @FUNCTION@ @PROGRAM@

    """#

  private static let zsh = #"""
    #compdef @PROGRAM@
    @FUNCTION@() {
        local program="${${(Q)words[1]}/#\~\//$HOME/}" kind
        local -a answer
        answer=("${(@f)$("$program" @REQUEST@ zsh "${(j: :)words[1,CURRENT-1]} ${QIPREFIX}${PREFIX}" 2>/dev/null)}")
        kind="${answer[1]}"
        shift 1 answer
        compset -P '--*='
        case "$kind" in
        files) if (( $#answer )); then _files -g "*.(${(j:|:)answer})"; else _files; fi ;;
        folders) _files -/ ;;
        words) (( $#answer )) && _describe -V 'value' answer ;;
        esac
    }
    if [[ "${funcstack[1]}" = @FUNCTION@ ]]; then
        @FUNCTION@ "$@"
    else
        compdef @FUNCTION@ @PROGRAM@
    fi

    """#

  private static let fish = #"""
    function @FUNCTION@
        set -l program (string replace -r '^~/' "$HOME/" -- (commandline -opc)[1])
        command $program @REQUEST@ fish (commandline -cp | string collect) 2>/dev/null
    end
    complete -c @PROGRAM@ -k -f -a '(@FUNCTION@)'

    """#
}
