{
const view = new GraphView(document.getElementById("graph"), { title: document.title, wheel: "ctrl" });
await view.show(JSON.parse(document.getElementById("data").textContent));
document.documentElement.dataset.ready = "";
}
