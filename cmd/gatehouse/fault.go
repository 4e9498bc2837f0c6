package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"gatehouse/core"
	"gatehouse/core/share"
	"gatehouse/core/text"
	"gatehouse/gatekeepers/model/script"
	"gatehouse/skills"
	"gatehouse/store"
)

// faultCode is a machine's word for how a command failed.
type faultCode string

// The codes, one for each exit code that is not 0.
const (
	codeFailed      faultCode = "failed"
	codeUsage       faultCode = "usage"
	codeDenied      faultCode = "denied"
	codeNotFound    faultCode = "not_found"
	codeUnreachable faultCode = "unreachable"
	codeInvalidFile faultCode = "invalid_file"
	codeInterrupted faultCode = "interrupted"
)

// exit is the one place where exit codes are given.
func (c faultCode) exit() int {
	switch c {
	case codeUsage:
		return 2
	case codeDenied:
		return 3
	case codeNotFound:
		return 4
	case codeUnreachable:
		return 5
	case codeInvalidFile:
		return 6
	case codeInterrupted:
		return 130
	default:
		return 1
	}
}

// fault is an error as a person sees it: what and which in the message, what
// to do in the hint. Told means that the command has shown it already.
type fault struct {
	code    faultCode
	message string
	hint    string
	told    bool
}

func (f *fault) Error() string { return f.message }

func usage(hint, format string, args ...any) *fault {
	return &fault{code: codeUsage, message: fmt.Sprintf(format, args...), hint: hint}
}

func invalidFile(hint, format string, args ...any) *fault {
	return &fault{code: codeInvalidFile, message: fmt.Sprintf(format, args...), hint: hint}
}

func failedWith(err error) *fault { return &fault{code: codeFailed, message: err.Error()} }

// told ends a command that has printed its result, with the exit code of code.
func told(code faultCode) *fault { return &fault{code: code, told: true} }

// faultOf turns any error into a fault: rules decide by kind, never by words.
func (a *app) faultOf(ctx context.Context, err error) *fault {
	var (
		f       *fault
		missing *core.NotFoundError
		refused *core.DecisionRefusedError
		call    *core.CallError
		syntax  *core.JSONError
		choice  *core.ChoiceError
		kept    *core.NotRevertibleError
		egress  *core.EgressError
		role    *core.RoleError
		latched *core.LatchedError
		removed *core.RemovedError
		wording *core.PredicateError
		moved   *core.RuleMovedError
		wrong   *script.Fault
		path    *fs.PathError
		skill   *skills.RefusedError
		busy    *store.ImportingError
		looked  *core.ReadOnlyError
		denied  *core.OpenDeniedError
		held    *core.FileRefusedError
		bad     *share.InvalidError
		newer   *share.NewerError
	)
	switch {
	case errors.As(err, &f):
		return f
	case ctx.Err() != nil:
		return &fault{code: codeInterrupted, message: "interrupted", hint: "what was carried out is on record; see gatehouse queue list"}
	case errors.As(err, &missing):
		return &fault{code: codeNotFound, message: missing.Error(), hint: missing.Hint}
	case errors.As(err, &refused):
		return &fault{code: codeDenied, message: refused.Text, hint: refused.Hint}
	case errors.As(err, &egress):
		return &fault{code: codeDenied, message: egress.Error(), hint: "gatehouse config shows the rules that hold"}
	case errors.As(err, &role):
		return &fault{code: codeDenied, message: role.Error()}
	case errors.As(err, &latched):
		return &fault{code: codeDenied, message: latched.Error(), hint: latched.Hint()}
	case errors.As(err, &looked):
		return &fault{code: codeDenied, message: looked.Error(), hint: looked.Hint()}
	case errors.As(err, &denied):
		return deniedOpen(denied)
	case errors.As(err, &bad):
		return invalidFile("ask its sender for another", "%s", bad)
	case errors.As(err, &newer):
		return invalidFile("", "%s", newer)
	case errors.As(err, &held):
		return refusedFile(held)
	case errors.Is(err, share.ErrNotRecipient):
		return &fault{code: codeDenied, message: err.Error(), hint: "it was sealed to other keys than yours"}
	case errors.As(err, &wording):
		return usage("gatehouse gatekeeper show KIND lists the fields", "%s", wording)
	case errors.As(err, &moved):
		return &fault{code: codeFailed, message: moved.Error()}
	case errors.As(err, &removed):
		return &fault{code: codeNotFound, message: err.Error(), hint: removed.Hint()}
	case errors.As(err, &syntax):
		return usage(hintJSON, "%s", syntax.Error())
	case errors.As(err, &call):
		return &fault{code: codeOfCall(call.Code), message: call.Text}
	case errors.As(err, &kept):
		return notRevertible(kept)
	case errors.As(err, &choice):
		return usage("see gatehouse queue show ID", "%s", choice.Error())
	case errors.As(err, &wrong):
		return invalidFile("", "%s", wrong)
	case errors.As(err, &skill):
		return &fault{code: codeOfRefusal(skill.Code), message: skill.Text, hint: skill.Hint}
	case errors.As(err, &busy):
		return &fault{code: codeFailed, message: busy.Error(), hint: "wait until that is done"}
	case errors.Is(err, core.ErrNameTaken):
		return &fault{code: codeFailed, message: err.Error(), hint: "choose another name"}
	case errors.Is(err, core.ErrForeignFile):
		return invalidFile("give another file with --store, or move this one away", "%s", err)
	case errors.Is(err, core.ErrNewerSchema):
		return invalidFile("open it with that version of gatehouse", "%s", err)
	case errors.Is(err, core.ErrNoPerson):
		return &fault{code: codeDenied, message: err.Error()}
	case errors.Is(err, core.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return &fault{code: codeNotFound, message: strings.TrimSuffix(err.Error(), ": "+core.ErrNotFound.Error())}
	case errors.As(err, &path) && errors.Is(err, fs.ErrPermission):
		return &fault{code: codeFailed, message: err.Error(), hint: "check who owns it and its mode"}
	case errors.Is(err, store.ErrDamaged):
		return invalidFile("", "%s", err)
	default:
		return failedWith(err)
	}
}

// refusedFile is a file that is whole and does not open.
func refusedFile(e *core.FileRefusedError) *fault {
	f := &fault{code: codeDenied, message: e.Error(), hint: e.Hint}
	if e.Stale {
		f.code = codeInvalidFile
	}
	return f
}

// codeOfCall places the codes of drivers among ours.
func codeOfCall(code string) faultCode {
	switch code {
	case core.CodeInvalid, core.CodeTooLarge:
		return codeUsage
	case core.CodeNotFound:
		return codeNotFound
	default:
		return codeFailed
	}
}

// codeOfRefusal places the refusals of the skill library among ours.
func codeOfRefusal(code skills.RefusalCode) faultCode {
	switch code {
	case skills.CodeNotFound:
		return codeNotFound
	case skills.CodeTooLarge, skills.CodeSkillTooLarge:
		return codeInvalidFile
	default:
		return codeUsage
	}
}

// showFault prints one line on stderr, or with --json one object on stdout.
func (a *app) showFault(f *fault) {
	if f.told {
		return
	}
	message, _ := text.CleanLine(f.message, text.NoLimit)
	hint, _ := text.CleanLine(f.hint, text.NoLimit)
	if a.json {
		object := struct {
			Error faultObject `json:"error"`
		}{faultObject{string(f.code), message, hint}}
		raw, err := json.Marshal(object)
		if err == nil {
			fmt.Fprintf(a.in.stdout, "%s\n", escapeJSON(raw))
			return
		}
	}
	line := "gatehouse: " + strings.TrimRight(message, ".;")
	if hint != "" {
		line += "; " + hint
	}
	fmt.Fprintln(a.in.stderr, line)
}

// faultObject is what --json prints of a fault.
type faultObject struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
}
