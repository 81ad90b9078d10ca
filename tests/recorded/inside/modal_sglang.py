import modal

app = modal.App("sgl")
MODEL = "Qwen/Qwen2.5-14B-Instruct"
TP = 2


@app.cls(gpu=f"H100:{TP}", timeout=3600)
class Server:
    @modal.enter()
    def start(self):
        import subprocess

        cmd = ["python", "-m", "sglang.launch_server", "--model-path", MODEL]
        cmd.extend(["--tp", str(TP), "--context-length", "32768", "--mem-fraction-static", "0.85"])
        subprocess.Popen(cmd)
