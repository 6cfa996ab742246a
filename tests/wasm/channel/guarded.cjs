// SPDX-License-Identifier: MIT
// Who may ask: tokens, other versions, and messages that are none.
"use strict";

const scenarios = (exports.scenarios = {});

const asked = (listener, n) =>
  listener.evaluate(async (n) => {
    const { until } = await import("/pages.mjs");
    await until(window, "message-heard", () => messages.filter((each) => each.type === "heapshot/hello").length >= n);
  }, n);
const replies = (listener) => listener.evaluate(() => messages.filter((each) => each.type === "heapshot/hello-reply"));
const answered = (listener, n) =>
  listener.evaluate(async (n) => {
    const { until } = await import("/pages.mjs");
    await until(window, "message-heard", () => messages.filter((each) => each.type === "heapshot/hello-reply").length >= n);
  }, n);

// No answer without the token, nor with another; programs answer in the order in which they
// are asked, so that the answer to who has it shows that there was none to the others.
scenarios.token = async ({ assert, program, panel, listener, listed, inPage }) => {
  const ear = await listener();
  const app = await program("guarded", { token: "open sesame" });
  const without = await panel();
  const wrong = await panel({ token: "open says me" });
  await asked(ear, 2);
  const right = await panel({ token: "open sesame" });
  await listed(right, 1);
  const told = await replies(ear);
  assert.strictEqual(told.length, 1);
  for (const page of [without, wrong]) assert.deepStrictEqual(await page.evaluate(() => client.runtimes), []);

  // It works there, and what crosses is nothing that the one who listens could use.
  const taken = right.evaluate(async () => (await client.take(client.runtimes[0].id)).text());
  await inPage(app, "taking", [1]);
  await app.evaluate(() => sources[0].takes[0].resolve(new Blob(["taken"])));
  assert.strictEqual(await taken, "taken");
  const all = await ear.evaluate(() => JSON.stringify(messages));
  assert.ok(!all.includes("sesame"));
  assert.deepStrictEqual(await ear.evaluate(() => [...new Set(messages.map((each) => each.type))].sort()), [
    "heapshot/available",
    "heapshot/hello",
    "heapshot/hello-reply",
  ]);
  // With a token a panel lists nobody who does not know it, and names nobody it cannot trust.
  await program("unguarded");
  await listed(without, 1);
  assert.deepStrictEqual(await right.evaluate(() => client.runtimes.map((each) => each.title)), ["guarded"]);
  assert.deepStrictEqual(await wrong.evaluate(() => client.runtimes), []);
};

// Who listened to a hello cannot use it again, nor change it.
scenarios.replay = async ({ assert, program, panel, listener, listed }) => {
  const ear = await listener();
  await program("guarded", { token: "open sesame" });
  const page = await panel({ token: "open sesame" });
  await listed(page, 1);
  await answered(ear, 1);
  await ear.evaluate(async () => {
    const { newId } = await import("/browser/app/protocol.mjs");
    const hello = messages.find((each) => each.type === "heapshot/hello");
    window.sent = [
      hello,
      { ...hello, hello: newId() },
      { ...hello, panel: newId() },
      { ...hello, at: hello.at + 1 },
      { ...hello, proof: hello.proof.replace(/^./, (digit) => (digit === "0" ? "1" : "0")) },
      { ...hello, proof: undefined },
      { ...hello, hello: newId(), proof: [hello.proof] },
    ];
    for (const each of sent) listener.postMessage(each);
  });
  // Right, but as old as one that was kept for a later program.
  await ear.evaluate(async () => {
    const { HELLO_MS, helloWords, newId } = await import("/browser/app/protocol.mjs");
    const { Secret } = await import("/browser/app/secret.mjs");
    const secret = await Secret.of("open sesame", "heapshot");
    for (const late of [-HELLO_MS - 1000, HELLO_MS + 1000, NaN]) {
      const hello = { type: "heapshot/hello", protocol: 1, hello: newId(), panel: newId(), at: Date.now() + late };
      hello.proof = await secret.prove(...helloWords("heapshot", hello));
      listener.postMessage(hello);
    }
    // The same way with the time of now is answered: so it is the time that counts.
    const hello = { type: "heapshot/hello", protocol: 1, hello: newId(), panel: newId(), at: Date.now() };
    hello.proof = await secret.prove(...helloWords("heapshot", hello));
    window.last = hello.hello;
    listener.postMessage(hello);
  });
  await answered(ear, 2);
  const [first, second, ...others] = await replies(ear);
  assert.deepStrictEqual(others, []);
  assert.strictEqual(second.hello, await ear.evaluate(() => last));
  assert.notStrictEqual(first.nonce, second.nonce);
};

// Somebody who does not know the token answers in a program's name.
scenarios.forged = async ({ assert, program, panel, listener, listed }) => {
  const ear = await listener();
  const page = await panel({ token: "open sesame" });
  await asked(ear, 1);
  await ear.evaluate(async () => {
    const { newId } = await import("/browser/app/protocol.mjs");
    const { hold } = await import("/browser/app/presence.mjs");
    const { hello, panel } = messages.find((each) => each.type === "heapshot/hello");
    const id = newId();
    await hold(id);
    const reply = { type: "heapshot/hello-reply", protocol: 1, hello, panel, runtime: id, nonce: newId(), title: "forged" };
    Object.assign(reply, { url: "", runtimeVersion: "", heapshotVersion: "" });
    listener.postMessage(reply);
    listener.postMessage({ ...reply, proof: "0".repeat(64) });
  });
  await program("true", { token: "open sesame" });
  await listed(page, 1);
  assert.deepStrictEqual(await page.evaluate(() => client.runtimes.map((each) => each.title)), ["true"]);
  // Nor does a panel without one take a reply that is not to it.
  const open = await panel();
  await ear.evaluate(async () => {
    const { newId } = await import("/browser/app/protocol.mjs");
    const { hold } = await import("/browser/app/presence.mjs");
    const id = newId();
    await hold(id);
    const { panel } = messages.filter((each) => each.type === "heapshot/hello").at(-1);
    const reply = { type: "heapshot/hello-reply", protocol: 1, panel, runtime: id, nonce: newId(), title: "forged" };
    Object.assign(reply, { url: "", runtimeVersion: "", heapshotVersion: "" });
    listener.postMessage({ ...reply, hello: newId() });
  });
  await program("plain");
  await listed(open, 1);
  assert.deepStrictEqual(await open.evaluate(() => client.runtimes.map((each) => each.title)), ["plain"]);
};

scenarios.versions = async ({ assert, program, panel, listener, listed }) => {
  const ear = await listener();
  await program("one");
  await program("guarded", { token: "x" });
  // A panel of a later version learns which one this is; nothing follows.
  await ear.evaluate(async () => {
    const { newId } = await import("/browser/app/protocol.mjs");
    listener.postMessage({ type: "heapshot/hello", protocol: 2, hello: newId(), panel: newId(), later: { any: 1 } });
  });
  await answered(ear, 1);
  const [reply, ...others] = await replies(ear);
  assert.deepStrictEqual([reply.protocol, reply.title, others], [1, "one", []]);
  // And a program of a later version is listed as such.
  const page = await panel();
  await asked(ear, 1);
  await listed(page, 1);
  await ear.evaluate(async () => {
    const { newId } = await import("/browser/app/protocol.mjs");
    const { hold } = await import("/browser/app/presence.mjs");
    const id = newId();
    await hold(id);
    const { hello, panel } = messages.filter((each) => each.type === "heapshot/hello" && each.protocol === 1).at(-1);
    const about = { title: "later", url: "", runtimeVersion: "12.0.0", heapshotVersion: "2.0" };
    listener.postMessage({ type: "heapshot/hello-reply", protocol: 2, hello, panel, runtime: id, nonce: newId(), ...about });
  });
  await listed(page, 2);
  const later = await page.evaluate(async () => {
    const runtime = client.runtimes.find((each) => each.title === "later");
    const why = await client.take(runtime.id).catch((error) => error.message);
    return { protocol: runtime.protocol, isSupported: runtime.isSupported, why };
  });
  assert.deepStrictEqual([later.protocol, later.isSupported], [2, false]);
  assert.match(later.why, /version 2 of the protocol, this panel version 1/);
};

