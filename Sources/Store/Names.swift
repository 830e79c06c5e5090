/// The store's words under names that no other module has.
public typealias StoredHold = Hold
public typealias StoredOutcome = Outcome
