package host

import (
	"os"

	"cordboard/core/config"
)

// What a config file holds and what is to be said of it.
type (
	Config        = config.Config
	ConfigReport  = config.Report
	ConfigRow     = config.Row
	ConfigProblem = config.Problem
)

// LoadConfig reads the config that the options name, else the user's, else the defaults.
func (o Options) LoadConfig() (*Config, ConfigReport, error) {
	return config.Load(config.Choose(o.ConfigPath, o.ConfigGiven, os.Getenv))
}

// ShowConfig lists the effective values with their sources, of all keys or of one and those below it.
func (o Options) ShowConfig(key string) ([]ConfigRow, error) {
	cfg, report, err := o.LoadConfig()
	if err != nil {
		return nil, err
	}
	if key == "" {
		return config.Show(cfg, report), nil
	}
	return config.Explain(cfg, report, key)
}
