import ControlAPI
import EventLoop

/// The daemon as the service uses it: its status and its questions come in, answers and accepted offers go out.
@LoopActor protocol CompanionDaemon: AnyObject {
    /// The interfaces at each change; `nil` while no daemon answers.
    var onStatus: ([InterfaceStatus]?) -> Void { get set }
    /// The questions that wait, at each change.
    var onPrompts: ([PendingPrompt]) -> Void { get set }

    func start()
    /// Calls back once, and not before this returns.
    func answer(_ parameters: AnswerParameters, _ done: @escaping (Result<Void, DaemonRefusal>) -> Void)
    /// Calls back once, and not before this returns.
    func addOffered(_ offer: OfferedParameters, _ done: @escaping (Result<OfferedReply, DaemonRefusal>) -> Void)
}

/// Why the daemon did not do something: one sentence for the user.
struct DaemonRefusal: Error, Hashable {
    let message: String
}
