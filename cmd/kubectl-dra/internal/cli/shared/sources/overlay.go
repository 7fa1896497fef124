package sources

import "github.com/kubectl-dra/kubectl-dra/inspect"

// Overlay puts the objects of over on top of those of base: an object of the same name is replaced.
func Overlay(base, over *inspect.Objects) {
	type name struct{ namespace, name string }
	for _, kind := range inspect.Kinds() {
		added := kind.Objects(over)
		if len(added) == 0 {
			continue
		}
		objects := kind.Objects(base)
		at := make(map[name]int, len(objects))
		for i, o := range objects {
			at[name{o.GetNamespace(), o.GetName()}] = i
		}
		for _, o := range added {
			if i, ok := at[name{o.GetNamespace(), o.GetName()}]; ok {
				objects[i] = o
			} else {
				objects = append(objects, o)
			}
		}
		inspect.SetObjects(base, kind, objects)
	}
}
