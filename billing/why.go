package billing

import (
	"github.com/radpool/radpool/radpool"
)

// why is what decided an Access-Request, for those who look on.
type why struct {
	access *access
	d      decision
	form   Form  // of the stored password
	err    error // of the back end
}

// tell leaves in the response why it is what it is. It costs no allocation: the text is
// made for who asks.
func (a *access) tell(d decision, form Form, err error, resp *radpool.Response) {
	a.why = why{a, d, form, err}
	resp.SetReason(&a.why)
}

// String is the decision in one line, without a password.
func (w *why) String() string {
	switch {
	case w.err != nil:
		return "the back end could not answer: " + w.err.Error()
	case w.access.problem != "":
		return "rejected: " + w.d.reason.String() + ", because of " + w.access.problem
	case w.d.reason == ReasonEAP && w.access.eap.result.Err != nil:
		return "rejected: eap, because " + w.access.eap.result.Err.Error()
	case w.d.restricted:
		return "accepted with the restricted profile: " + w.d.reason.String() + w.proof()
	case w.d.accepted():
		return "accepted" + w.proof()
	}
	return "rejected: " + w.d.reason.String() + w.proof()
}

// proof says which method met which stored password.
func (w *why) proof() string {
	stored := w.form.String()
	if w.form == FormNone {
		stored = "no stored password"
	}
	if w.access.Method == MethodNone {
		return " (no credentials; " + stored + ")"
	}
	return " (" + w.access.Method.String() + "; " + stored + ")"
}

// String is what became of a record, in one line.
func (r *record) String() string {
	switch {
	case r.problem != "":
		return "discarded, because of " + r.problem
	case !r.stored:
		return "not stored: there is no answer"
	}
	return "stored: " + r.Status.String() + " of session " + r.UniqueID
}
