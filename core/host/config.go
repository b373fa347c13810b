package host

import (
	"errors"
	"os"
	"path/filepath"

	"cordboard/core"
	"cordboard/core/config"
	"cordboard/core/config/json5"
)

// What a config file holds and what is to be said of it.
type (
	Config         = config.Config
	ConfigReport   = config.Report
	ConfigRow      = config.Row
	ConfigProblem  = config.Problem
	ConfigProblems = config.Problems
	ConfigUI       = config.UI
)

// LoadConfig reads the config that the options name, else the user's, else the defaults.
func (o Options) LoadConfig() (*Config, ConfigReport, error) {
	return config.Load(config.Choose(o.ConfigPath, o.ConfigGiven, os.Getenv))
}

// effective is LoadConfig for whoever needs the config and not its mistakes: several of them are one sentence that says where to read all.
func (o Options) effective() (*Config, ConfigReport, error) {
	cfg, report, err := o.LoadConfig()
	if all, ok := errors.AsType[config.Problems](err); ok && len(all) > 1 {
		first := all[0]
		first.File = ""
		err = core.Errorf(core.CodeConfig, "%d mistakes in %s, first: %s; `cordboard config check %s` lists them", len(all), all[0].File, first.Error(),
			all[0].File).Because(first.Key)
	}
	return cfg, report, err
}

// ShowConfig lists the effective values with their sources, of all keys or of one and those below it.
func (o Options) ShowConfig(key string) ([]ConfigRow, error) {
	cfg, report, err := o.effective()
	if err != nil {
		return nil, err
	}
	if key == "" {
		return config.Show(cfg, report), nil
	}
	return config.Explain(cfg, report, key)
}

// UserDir is where a user's own files are: $XDG_CONFIG_HOME/cordboard; "" when there is no home.
func UserDir() string { return config.UserDir(os.Getenv) }

// JSON5File is a file beside the config, as strict JSON, with where its keys stand.
type JSON5File struct {
	JSON []byte
	doc  *json5.Document
}

// ReadJSON5 reads a file beside the config. A relative path starts where the config is. Errors name the file.
func (o Options) ReadJSON5(path string) (string, *JSON5File, error) {
	if file := config.Choose(o.ConfigPath, o.ConfigGiven, os.Getenv); !filepath.IsAbs(path) && file != "" {
		path = filepath.Join(filepath.Dir(file), path)
	}
	data, err := config.ReadFile(path)
	if err != nil {
		return path, nil, err
	}
	doc, err := json5.Parse(data)
	if err != nil {
		return path, nil, err
	}
	return path, &JSON5File{doc.JSON, doc}, nil
}

// Place is the line and column of a top-level key, from 1; 0, 0 when there is none.
func (f *JSON5File) Place(key string) (line, col int) {
	place, rest := f.doc.Find(json5.Join("", key))
	if rest != "" {
		return 0, 0
	}
	return place.Pos().Line, place.Pos().Col
}
