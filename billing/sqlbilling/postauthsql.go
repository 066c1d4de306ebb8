package sqlbilling

import (
	"strconv"
	"strings"

	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

// A postAuthSQL is the statement that writes radpostauth, with its columns.
type postAuthSQL struct {
	d       *dialect.Dialect
	columns []dialect.Column
	kinds   []dialect.Kind
	text    string
}

func newPostAuthSQL(db *dialect.DB, d *dialect.Dialect, l *layout) *postAuthSQL {
	names := []string{"username", "pass", "reply", "authdate"}
	if l.reason {
		names = append(names, "reason")
	}
	p := &postAuthSQL{d: d}
	var exprs []string
	for i, name := range names {
		c, expr := l.column("radpostauth", name), "?"
		p.columns = append(p.columns, c)
		if d.Bulk != nil {
			expr = "v.c" + strconv.Itoa(i)
		}
		if name == "authdate" {
			p.kinds = append(p.kinds, dialect.KindInt)
			exprs = append(exprs, d.Moment(expr, c))
		} else {
			p.kinds = append(p.kinds, dialect.KindText)
			exprs = append(exprs, d.Stored(expr, c))
		}
	}
	p.text = "INSERT INTO radpostauth (" + strings.Join(names, ", ") + ") "
	if d.Bulk != nil {
		p.text += "SELECT " + strings.Join(exprs, ", ") + " FROM " + d.Bulk.Source(p.kinds)
	} else {
		p.text += "VALUES (" + strings.Join(exprs, ", ") + ")"
	}
	p.text = db.Write.Rebind(p.text)
	return p
}

// values are those of a row, in the order of the columns.
func (p *postAuthSQL) values(r *postAuthRow) []any {
	text := []string{r.user, r.pass, r.reply, "", r.reason}
	values := make([]any, len(p.columns))
	for i, c := range p.columns {
		switch {
		case c.Name == "authdate":
			values[i] = r.at
		case p.d.Clean != nil:
			values[i] = p.d.Clean(text[i], c)
		default:
			values[i] = text[i]
		}
	}
	return values
}
