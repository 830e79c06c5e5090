import Glibc
import Testing

@testable import HelperHost

@Suite struct MountTableTests {
    static let plain = """
        22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
        23 22 0:21 / /run rw shared:2 - tmpfs tmpfs rw
        """

    @Test func aFolderIsSeenAtItsPlace() {
        #expect(MountTable(Self.plain).views(of: "/var/lib/hotspotd") == ["/var/lib/hotspotd"])
        #expect(MountTable("").views(of: "/var/lib/hotspotd") == ["/var/lib/hotspotd"])
    }

    @Test func aBindMountAboveItShowsItAgain() {
        let table = MountTable(Self.plain + "\n40 22 8:1 /var/lib /mnt/with\\040blank rw - ext4 /dev/sda1 rw\n")
        #expect(table.views(of: "/var/lib/hotspotd") == ["/var/lib/hotspotd", "/mnt/with blank/hotspotd"])
    }

    @Test func aPartOfItThatIsMountedElsewhereIsOne() {
        let table = MountTable(Self.plain + "\n40 22 8:1 /var/lib/hotspotd/part /srv/part rw - ext4 /dev/sda1 rw\n")
        #expect(table.views(of: "/var/lib/hotspotd") == ["/var/lib/hotspotd", "/srv/part"])
        #expect(table.views(of: "/var/lib/hotspot") == ["/var/lib/hotspot"])
    }

    /// Subvolumes, as a system on btrfs has them, with its top mounted as well.
    @Test func theTopOfAFileSystemShowsItsParts() {
        let table = MountTable(
            """
            22 1 0:30 /@ / rw - btrfs /dev/sda2 rw,subvol=/@
            23 22 0:30 /@var /var rw - btrfs /dev/sda2 rw,subvol=/@var
            24 22 0:30 / /.top rw - btrfs /dev/sda2 rw,subvolid=5
            25 22 0:31 / /.other rw - btrfs /dev/sdb1 rw
            """)
        #expect(
            table.views(of: "/var/lib/hotspotd") == ["/var/lib/hotspotd", "/.top/@/var/lib/hotspotd", "/.top/@var/lib/hotspotd"])
    }

    /// The folder of one's own that a service manager mounts over `/tmp`, say.
    @Test func whatAnotherMountCoversIsSeenWhereItsFileSystemIsMountedAgain() {
        let table = MountTable(
            Self.plain + "\n40 22 8:1 /tmp/private /tmp rw - ext4 /dev/sda1 rw\n41 22 8:1 / /mnt/again rw - ext4 /dev/sda1 rw")
        #expect(table.views(of: "/tmp") == ["/tmp", "/mnt/again/tmp", "/mnt/again/tmp/private"], "not /tmp/private")
        #expect(table.views(of: "/run") == ["/run", "/mnt/again/run"])
    }

    @Test func ofTwoMountsOnAFolderBothCount() {
        let table = MountTable(
            Self.plain
                + "\n30 22 0:40 / /var rw - tmpfs a rw\n31 30 0:41 /x /var rw - tmpfs b rw\n32 22 0:41 / /b rw - tmpfs b rw")
        #expect(table.views(of: "/var/lib") == ["/var/lib", "/b/x/lib"])
        #expect(
            MountTable(
                Self.plain + "\n30 22 0:40 / /var rw - tmpfs a rw\n31 30 0:41 / /var rw - tmpfs b rw\n"
                    + "32 22 0:40 / /a rw - tmpfs a rw"
            ).views(of: "/var/lib") == ["/var/lib", "/a/lib"])
    }

    /// What is kept while the rest is read-only, and a layer that lies in another overlay.
    @Test func theLayersOfAnOverlayShowIt() {
        let table = MountTable(
            Self.plain
                + "\n40 22 0:50 / /var/lib rw - overlay o rw,lowerdir=/low\\134:er:/base,upperdir=/media/a\\040b,workdir=/media/w"
                + "\n41 22 0:51 / /base rw - overlay o ro,lowerdir=/x:relative\n42 22 8:1 /media /m rw - ext4 /dev/sda1 rw")
        let views = ["/var/lib", "/low:er", "/base", "/media/a b", "/m/a b", "/x"].map { $0 + "/hotspotd" }
        #expect(table.views(of: "/var/lib/hotspotd") == views)
    }

    /// As a container's root is.
    @Test func anOverlayWhoseLayersSeemToLieInItselfHasAnEnd() {
        let layers = (0..<40).map { "/layers/\($0)" }.joined(separator: ":")
        let table = MountTable("22 1 0:50 / / rw - overlay o rw,lowerdir=\(layers),upperdir=/layers/up")
        #expect(table.views(of: "/var/lib/hotspotd").count == 42)
        #expect(
            MountTable("22 1 0:50 / / rw - overlay o rw,lowerdir=/a,upperdir=/b", hasFolder: { _ in false }).mounts[0].layers
                == [])
    }

    /// A folder whose mount is there is as good as any other.
    @Test func whatIsMountedOnlyWhenItIsLookedAtIsKnown() {
        let table = MountTable(
            Self.plain
                + "\n40 22 0:50 / /mnt/disk rw shared:7 - autofs systemd-1 rw,fd=50,direct"
                + "\n41 22 0:51 / /home rw shared:8 master:1 - autofs systemd-1 rw\n42 41 8:2 / /home rw - ext4 /dev/sda2 rw")
        #expect(table.awaited == ["/mnt/disk"])
        #expect(MountTable(Self.plain).awaited.isEmpty)
    }

    @Test(arguments: ["", "x", "1 2 3", "1 2 8:1 root point - a b", "\u{0}", String(repeating: "9 ", count: 5_000)])
    func whatIsNoLineIsLeftOut(_ text: String) {
        #expect(MountTable(text).mounts.isEmpty)
    }

    @Test func thisProcessHasMounts() {
        let watch = MountWatch()
        #expect(watch.current().mounts.contains { $0.point == "/" })
        #expect(watch.current().mounts == watch.current().mounts)
    }
}
