# Installs the programs of a release. tools/release.py fills in what stands between at signs.
class Standoff < Formula
  desc "Simulation of deformable solids in contact, without intersections"
  homepage "@URL@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
      url "@URL@/releases/download/v@VERSION@/standoff-@VERSION@-aarch64-apple-darwin.tar.gz"
      sha256 "@SHA256:standoff-VERSION-aarch64-apple-darwin.tar.gz@"
    end
    on_intel do
      url "@URL@/releases/download/v@VERSION@/standoff-@VERSION@-x86_64-apple-darwin.tar.gz"
      sha256 "@SHA256:standoff-VERSION-x86_64-apple-darwin.tar.gz@"
    end
  end
  on_linux do
    on_arm do
      url "@URL@/releases/download/v@VERSION@/standoff-@VERSION@-aarch64-unknown-linux-gnu.tar.gz"
      sha256 "@SHA256:standoff-VERSION-aarch64-unknown-linux-gnu.tar.gz@"
    end
    on_intel do
      url "@URL@/releases/download/v@VERSION@/standoff-@VERSION@-x86_64-unknown-linux-gnu.tar.gz"
      sha256 "@SHA256:standoff-VERSION-x86_64-unknown-linux-gnu.tar.gz@"
    end
  end

  def install
    bin.install "standoff"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/standoff.bash" => "standoff"
    zsh_completion.install "completions/standoff.zsh" => "_standoff"
    fish_completion.install "completions/standoff.fish"
  end

  test do
    system bin/"standoff", "new", "ball"
    system bin/"standoff", "run", "ball.toml", "--steps", "3"
    system bin/"standoff", "audit", "out/ball"
  end
end
