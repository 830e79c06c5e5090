/// The version that the programs' `--version`, `Status` and the service's own interface tell.
public let hotspotdVersion = "0.1.0"
