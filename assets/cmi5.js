// Tells a learning management system that this page was opened, read and closed [cmi5, Quartz 1st edition, 8 to 9].
// Without the parameters that such a system puts into the address it does nothing.
"use strict";
(async () => {
  const told = new URLSearchParams(location.search);
  const endpoint = told.get("endpoint");
  if (!endpoint || !told.get("fetch")) return;
  const token = (await (await fetch(told.get("fetch"), { method: "POST" })).json())["auth-token"];
  const actor = JSON.parse(told.get("actor"));
  const [activity, registration] = [told.get("activityId"), told.get("registration")];
  const headers = {
    Authorization: `Basic ${token}`, "Content-Type": "application/json", "X-Experience-API-Version": "1.0.3",
  };
  const asked = new URLSearchParams({ stateId: "LMS.LaunchData", activityId: activity, agent: JSON.stringify(actor), registration });
  const launch = await (await fetch(`${endpoint}activities/state?${asked}`, { headers })).json();
  const began = Date.now();
  const lasted = () => `PT${((Date.now() - began) / 1000).toFixed(2)}S`;
  const say = (verb, result, moveOn) => {
    const context = structuredClone(launch.contextTemplate);
    context.registration = registration;
    const others = (context.contextActivities ??= {});
    others.category = [...(others.category ?? []), { id: "https://w3id.org/xapi/cmi5/context/categories/cmi5" }];
    if (moveOn) others.category.push({ id: "https://w3id.org/xapi/cmi5/context/categories/moveon" });
    return fetch(`${endpoint}statements`, {
      method: "POST", headers, keepalive: true,
      body: JSON.stringify({
        id: crypto.randomUUID(), actor, verb: { id: `http://adlnet.gov/expapi/verbs/${verb}` },
        object: { id: activity }, result, context, timestamp: new Date().toISOString(),
      }),
    });
  };
  await say("initialized");
  await say("completed", { completion: true, duration: lasted() }, true);
  addEventListener("pagehide", () => say("terminated", { duration: lasted() }), { once: true });
})();
