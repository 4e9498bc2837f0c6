package core

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// ToolAsk is the tool with which an agent asks a person (kernel R32).
const ToolAsk = "ask"

// RunCall runs one call of a step and stores its answer, whatever it is: a fault in what the model wrote is an answer
// too (A3). A call that was answered before gets that answer (kernel R30). The error is for what has no answer: a
// context that ended, a store that failed, a lease that was lost.
func (k *Kernel) RunCall(ctx context.Context, lease Lease, step int, call ToolCall) (Released, error) {
	if err := k.fault.At(FaultTurnAnswering); err != nil {
		return Released{}, err
	}
	var turn Turn
	err := k.store.Read(ctx, func(v View) (err error) {
		turn, err = leasedTurn(v, lease)
		return err
	})
	if err != nil {
		return Released{}, err
	}
	released, err := k.dispatchCall(ctx, turn, turn.caller(step, call.ID), call)
	if err != nil {
		return Released{}, err
	}
	return released, k.fault.At(FaultTurnAnswered)
}

func (k *Kernel) dispatchCall(ctx context.Context, turn Turn, caller Caller, call ToolCall) (Released, error) {
	session := string(turn.Session)
	args, err := compactArgs(json.RawMessage(call.Args))
	if err == nil {
		_, err = argsHash(call.Name, args)
	}
	if err != nil {
		return k.answerError(ctx, turn, caller, call, CodeInvalid, err.Error())
	}
	if call.Name == ToolAsk {
		return k.askCall(ctx, turn, caller, call, args)
	}
	binding, method, dotted := strings.Cut(call.Name, ".")
	if !dotted {
		return k.answerError(ctx, turn, caller, call, CodeNotFound, fmt.Sprintf("tool %q: not found; tools are NAME.method, and %s", call.Name, ToolAsk))
	}
	released, err := k.Call(ctx, CallRequest{Session: session, Binding: BindingName(binding), Method: method, Args: args, Caller: caller})
	var missing *NotFoundError
	switch {
	case err == nil, ctx.Err() != nil, errors.Is(err, errLeaseLost):
		return released, err
	case errors.As(err, &missing):
		return k.answerError(ctx, turn, caller, call, CodeNotFound, fmt.Sprintf("%s; %s", missing.Error(), missing.Hint))
	}
	if _, unopened := k.locate(ctx, session, BindingName(binding)); unopened != nil && ctx.Err() == nil {
		// Its words may hold the service's data and have not passed the gate.
		return k.answerError(ctx, turn, caller, call, "unreachable", fmt.Sprintf("binding %s cannot be opened now", binding))
	}
	return Released{}, err
}

// callHash is how a call is told apart from another with its id; the hash that the gate stores, for calls that reach it.
func callHash(call ToolCall) string {
	args, err := compactArgs(json.RawMessage(call.Args))
	if err == nil {
		if hash, err := argsHash(call.Name, args); err == nil {
			return hash
		}
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte("malformed\n"+call.Name+"\n"+call.Args)))
}

func unansweredCalls(v turnView, step Step) ([]ToolCall, error) {
	var out []ToolCall
	for _, call := range step.Response.Calls {
		_, err := v.Answer(step.Session, step.Turn, call.ID, callHash(call))
		if errors.Is(err, ErrNotFound) {
			out = append(out, call)
			continue
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// answerError stores an answer for a call that never reached the gate. Its text holds nothing but the model's own words
// and names of ours, so it needs none.
func (k *Kernel) answerError(ctx context.Context, turn Turn, caller Caller, call ToolCall, code, why string) (Released, error) {
	return k.answer(ctx, turn, caller, call, func(tx Tx) (releasedBody, error) {
		body := releasedBody{Status: StatusError, Code: code, Reason: cleanReason(why)}
		return body, tx.Append(Entry{
			At: k.clock.Now(), Type: EventTurn, Session: turn.Session, Turn: turn.Number, Actor: caller.actor(),
			Authority: string(turn.By), Subject: turn.subject(),
			Detail: detail(map[string]any{"event": "call refused", "step": caller.Step, "code": code, "reason": textHash(why)}),
		})
	})
}

// answer stores what a call is told in the transaction of what it does; a repeated call gets what is stored.
func (k *Kernel) answer(ctx context.Context, turn Turn, caller Caller, call ToolCall, do func(Tx) (releasedBody, error)) (Released, error) {
	var out Released
	hash := callHash(call)
	err := k.store.Write(ctx, func(tx Tx) error {
		stored, err := tx.Answer(turn.Session, turn.Number, call.ID, hash)
		if err == nil {
			out, err = rebuild(stored)
			return err
		}
		if !errors.Is(err, ErrNotFound) {
			return err
		}
		body, err := do(tx)
		if err != nil {
			return err
		}
		out = release(body)
		raw, err := json.Marshal(out.body)
		if err != nil {
			return fmt.Errorf("answer of call %s: %w", call.ID, err)
		}
		return tx.InsertAnswer(Answer{
			Session: turn.Session, Turn: turn.Number, Step: caller.Step, CallID: call.ID, ArgsHash: hash, Body: raw,
		})
	})
	return out, err
}
