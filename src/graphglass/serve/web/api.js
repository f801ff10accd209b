// Requests to the server this page came from. No other host is contacted.

export class TokenNeeded extends Error {}
export class NotHeld extends Error {}

export async function ask(path, { body, content, method, signal } = {}) {
  const headers = {};
  const token = sessionStorage.getItem("token");
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (content !== undefined) headers["Content-Type"] = "application/octet-stream";
  const sent = body === undefined ? content : JSON.stringify(body);
  const answer = await fetch(path, { method: method ?? (sent === undefined ? "GET" : "POST"), headers, body: sent, signal })
    .catch(() => { signal?.throwIfAborted(); throw new Error("The server cannot be reached. Is it still running?"); });
  const found = await answer.json().catch(() => ({}));
  signal?.throwIfAborted();
  if (answer.status === 401) throw new TokenNeeded(found.detail);
  if (answer.status === 404) throw new NotHeld(found.detail);
  if (!answer.ok) throw Object.assign(new Error(found.detail ?? `The server answered ${answer.status}.`), { columns: found.columns });
  return found;
}
