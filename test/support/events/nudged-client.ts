// A client that reads events only when it is nudged, at a URL that fails in every way there is.

import { findFreePort } from '../app/process.ts';
import { type Ask, createEventClient, type EventClient } from './event-client.ts';
import { type Answering, answers, drops, hangs, openTarget, takes } from './nudge-target.ts';

const slowly: Answering = (response) => {
  setTimeout(() => response.writeHead(204).end(), 3_000);
};
const failures = [answers(500), drops, hangs, slowly];
// The client notices a nudge only if its URL answers in one of these ways.
const heard = new Set<Answering>([takes, slowly]);

export type NudgedClient = Awaited<ReturnType<typeof openNudgedClient>>;

export async function openNudgedClient(name: string, random: () => number) {
  let mayFail = true;
  let isNudged = false;
  let failed = 0;
  const target = await openTarget(
    (...nudge) => {
      const answering =
        mayFail && random() < 0.7 ? (failures[Math.floor(random() * failures.length)] ?? takes) : takes;
      if (answering !== takes) failed++;
      if (heard.has(answering)) isNudged = true;
      answering(...nudge);
    },
    await findFreePort(),
  );
  return {
    name,
    url: target.url,
    countNudges: () => ({ nudges: target.received.length, 'failed nudges': failed }),
    /** Makes the URL accept each nudge from now on. */
    recover() {
      mayFail = false;
    },
    /**
     * Reads to the end at each nudge, until `isOver`. The reader crashes from time to time, and then goes on at the position
     * that it noted.
     */
    async read(asks: Ask[], headers: Record<string, string>, isOver: (reader: EventClient) => boolean) {
      const reader = createEventClient({ name, asks, random, headers });
      while (!isOver(reader)) {
        if (isNudged) {
          isNudged = false;
          while (!(await reader.step({ maxWait: 0 })) && !isOver(reader));
        }
        await new Promise((done) => setTimeout(done, 20));
      }
      return reader;
    },
    reopen: target.reopen,
    close: target.close,
  };
}
