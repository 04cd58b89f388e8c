// Events of @fluent-org/logger in each of its forms, to the port that is given, with the shared key "secret". Ends with 0
// when all were acknowledged. Called by fluent2arrow.py.
"use strict";
const { FluentClient, EventTime } = require(`${process.env.STROM_FLUENT_LOGGER}/node_modules/@fluent-org/logger`);

const EVENTS = 500;

async function send(eventMode, port) {
  const logger = new FluentClient("node", {
    socket: { host: "127.0.0.1", port, timeout: 10000 },
    ack: { ackTimeout: 60000 },
    eventMode,
    security: { clientHostname: "client", sharedKey: "secret" },
  });
  const sent = [];
  for (let i = 0; i < EVENTS; ++i) sent.push(logger.emit("app", { mode: eventMode, i, half: i + 0.5, text: `ä${i}`, list: [i] }, EventTime.now()));
  await Promise.all(sent);
  await logger.shutdown();
}

(async () => {
  for (const mode of ["Message", "Forward", "PackedForward", "CompressedPackedForward"]) await send(mode, Number(process.argv[2]));
})().catch((error) => {
  console.error(error);
  process.exit(1);
});
