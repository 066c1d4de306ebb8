package dict

import "io/fs"

// LoadOver is Load with another dictionary in the place of the embedded one.
func LoadOver(own, fsys fs.FS, name string) (*Dictionary, error) {
	d := empty()
	r := &reader{d: d, fsys: own, own: true}
	if err := r.include(name); err != nil {
		return nil, err
	}
	if err := r.end(); err != nil {
		return nil, err
	}
	return load(d, fsys, name)
}
