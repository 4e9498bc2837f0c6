package core

import (
	"encoding/json"
	"fmt"
	"slices"
)

// names looks for what a session reached and whom it belongs to.
func (s *blueprintSeek) names(v View, of Session) error {
	bindings, err := v.Bindings(of.ID)
	if err != nil {
		return err
	}
	for _, b := range bindings {
		s.name("a name in the URL of binding "+string(b.Name), b.URL)
		c, err := v.Connection(b.Connection)
		if err != nil {
			return err
		}
		origin := "of connection " + string(c.ID)
		s.name("the name "+origin, c.Name)
		s.name("the service "+origin, c.Service)
		s.name("a name in the root "+origin, c.Root)
		for _, l := range c.Labels {
			s.literal("a label "+origin, l)
		}
		for _, r := range append(slices.Clone(c.Readers), c.Owner) {
			s.literal("a person "+origin, string(r))
		}
	}
	grants, err := v.RoleGrants(of.ID)
	if err != nil {
		return err
	}
	for _, g := range grants {
		s.literal("a person who was given a role", string(g.Person))
	}
	set, err := v.Observations(of.ID)
	if err != nil {
		return err
	}
	for i, o := range set {
		if s.open[o.Found.Unit] {
			continue
		}
		origin := fmt.Sprintf("unit %d of what was read", i+1)
		s.name("the service of "+origin, o.Found.Unit.Service)
		s.name("the name of "+origin, o.Found.Unit.Name)
		for _, l := range o.Found.Labels {
			s.literal("a label of "+origin, l)
		}
	}
	return nil
}

// content looks for what a session was answered, asked for, said and queued. What people typed is theirs to give away.
func (s *blueprintSeek) content(v View, of Session) error {
	answers, err := v.Answers(of.ID)
	if err != nil {
		return err
	}
	for _, a := range answers {
		var body releasedBody
		if err := json.Unmarshal(a.Body, &body); err != nil {
			return fmt.Errorf("stored answer of call %s: %w", a.CallID, err)
		}
		origin := fmt.Sprintf("something of an answer in turn %d, step %d", a.Turn, a.Step)
		s.json(origin, body.Value)
		s.value(origin, body.Reason)
	}
	steps, err := v.Steps(of.ID)
	if err != nil {
		return err
	}
	for _, step := range steps {
		at := fmt.Sprintf("in turn %d, step %d", step.Turn, step.Number)
		s.words("something that the model said "+at, step.Response.Text)
		for _, call := range step.Response.Calls {
			s.json("an argument of a call "+at, []byte(call.Args))
		}
		for _, d := range step.Decisions {
			s.words("a decision that was told "+at, d.Title)
			s.json("a decision that was told "+at, []byte(d.Result))
		}
	}
	turns, err := v.Turns(of.ID)
	if err != nil {
		return err
	}
	for _, t := range turns {
		s.name(fmt.Sprintf("the source of the model of turn %d", t.Number), t.Source)
	}
	return s.queued(v, of)
}

// queued looks through everything that was ever queued or asked.
func (s *blueprintSeek) queued(v View, of Session) error {
	q := QueueQuery{Session: of.ID, AllState: true}
	for {
		page, err := v.Queue(q)
		if err != nil {
			return err
		}
		for _, row := range page.Rows {
			q.After = &row.Place
			if row.Question != nil {
				s.words(fmt.Sprintf("something of question %d", row.Question.ID), row.Question.Text)
				continue
			}
			a, err := v.Action(row.ID)
			if err != nil {
				return err
			}
			s.action(a)
		}
		if !page.More || len(page.Rows) == 0 {
			return nil
		}
	}
}

func (s *blueprintSeek) action(a Action) {
	origin := fmt.Sprintf("something of action %d", a.ID)
	s.words("the title of action "+a.ID.String(), a.Draft.Title)
	s.json(origin, a.Args)
	s.json(origin, a.Draft.Payload)
	s.json(origin, a.Draft.Value)
	s.json(origin, a.Result)
	for _, f := range slices.Concat(a.Draft.Fields, a.Draft.Submitted) {
		s.json(origin, f.Before)
		s.json(origin, f.After)
	}
	for _, target := range a.Draft.Targets {
		s.name("a target of action "+a.ID.String(), target)
	}
	for _, made := range a.Created {
		s.literal(origin, made.Real)
	}
}
