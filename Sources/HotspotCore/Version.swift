/// The version that `--version`, `Status` and org.varlink.service report.
public let hotspotdVersion = "0.2.0"
