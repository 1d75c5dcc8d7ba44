// Requests to this machine's own server. A refusal comes back as an Error with the package's sentence.
async function answered(response) {
  const content = await response.json().catch(() => ({ error: `the server answered ${response.status}.` }));
  if (!response.ok) throw new Error(content.error ?? `the server answered ${response.status}.`);
  return content;
}
export const get = async (path) => answered(await fetch(path));
export const post = async (path, content = {}) => answered(await fetch(path, {
  method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(content) }));
export const remove = async (path) => answered(await fetch(path, { method: "DELETE" }));
export const upload = async (file) => answered(await fetch(`/api/data?name=${encodeURIComponent(file.name)}`, {
  method: "POST", headers: { "Content-Type": "application/octet-stream" }, body: file }));

export function listen(hear, onGap) {
  const source = new EventSource("/api/events");
  source.onmessage = (event) => hear(JSON.parse(event.data));
  source.onopen = () => onGap(false);
  source.onerror = () => onGap(true);
}
