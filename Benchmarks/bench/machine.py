"""What the figures were measured on."""
import os
import platform
import subprocess
import time


def processor():
    with open("/proc/cpuinfo") as lines:
        for line in lines:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown"


def disk_speed(folder):
    """Bytes a second at which the disk takes a new file of 1 GiB, synced: the best of three."""
    path = os.path.join(folder, "speed")
    speeds = []
    for _ in range(3):
        start = time.monotonic()
        subprocess.run(["dd", "if=/dev/zero", f"of={path}", "bs=1M", "count=1024", "conv=fsync"], check=True, capture_output=True)
        speeds.append((1 << 30) / (time.monotonic() - start))
        os.remove(path)
    return max(speeds)


def describe(folder):
    sqlite = subprocess.run(["sqlite3", "--version"], check=True, capture_output=True, text=True).stdout.split()[0]
    with open("/proc/meminfo") as lines:
        memory = int(next(lines).split()[1]) * 1024
    return {
        "cpu": processor(), "cores": os.cpu_count(), "memory": memory, "system": f"{platform.system()} {platform.release()}",
        "sqlite": sqlite, "disk": disk_speed(folder), "load": os.getloadavg()[0],
    }
