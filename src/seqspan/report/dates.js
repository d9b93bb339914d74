/* Dates of samples, as the clock on the wall showed them, and the time axis. */
const DAY = 86400; // seconds
const CLOCK_STEPS = [
  15,
  30,
  60,
  120,
  300,
  600,
  900,
  1800,
  3600,
  7200,
  14400,
  21600,
  43200,
  DAY,
  2 * DAY,
  7 * DAY,
];
const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

/** What is known of the dates: seconds since the first sample, local time, digits and offset from UTC. */
const knownDates = (DATA.dates || []).map(([sample, text]) => {
  const [, local, fraction, zone] = /^([\dT:-]+?)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)?$/.exec(text);
  const whole = Date.parse(`${local.length > 10 ? local : `${local}T00:00:00`}Z`) / 1000;
  const digits = fraction ? fraction.length : 0;
  return {
    at: (edge(sample) - edge(0)) / SECOND,
    seconds: whole + Number(`0.${fraction || 0}`),
    digits,
    zone: zone || "",
  };
});

/** The last date that is known at or before a time: clocks change in between. */
function knownBefore(value) {
  const since = (value - edge(0)) / SECOND;
  return knownDates.reduce((best, date) => (date.at <= since + 1e-9 ? date : best), knownDates[0]);
}

/** Seconds on the local clock since 1970. */
function localSeconds(value) {
  const known = knownBefore(value);
  return known.seconds + ((value - edge(0)) / SECOND - known.at);
}

/** A date as in segments.csv: with "T" and the offset from UTC for machines, with a space for people. */
function dateText(value, separator) {
  const { digits, zone } = knownBefore(value);
  const units = Math.round(localSeconds(value) * 10 ** digits);
  const [day, clock] = new Date(Math.floor(units / 10 ** digits) * 1000)
    .toISOString()
    .slice(0, 19)
    .split("T");
  const fraction = digits ? `.${String(units % 10 ** digits).padStart(digits, "0")}` : "";
  return `${day}${separator}${clock}${fraction}${separator === "T" ? zone : ""}`;
}

/** Places and texts on the time axis; whole minutes, hours and days where times are written as such. */
function timeTicks(low, high, count) {
  const clock = DATA.dates || (DATA.unit === "s" && edge(N) >= 100);
  const rough = (high - low) / SECOND / Math.max(count, 1);
  const step = CLOCK_STEPS.find((size) => size >= rough);
  if (!clock || !step || rough < 10) {
    const { found, digits } = ticks(low, high, count);
    return found.map((value) => [
      value,
      DATA.dates ? dateText(value, " ").slice(11).replace(/\.0+$/, "") : lengthText(value, digits),
    ]);
  }
  const shift = DATA.dates ? localSeconds(low) - low / SECOND : 0;
  const found = [];
  for (let i = Math.ceil((low / SECOND + shift) / step); i * step <= high / SECOND + shift; i++)
    found.push(i * step);
  return found.map((seconds, i) => [
    (seconds - shift) * SECOND,
    DATA.dates ? dayTick(seconds, i === 0) : lengthText(seconds, 0),
  ]);
}

/** The time of day; the day itself where it begins, and at the first tick. */
function dayTick(seconds, first) {
  const date = new Date(seconds * 1000);
  const day = `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}`;
  const clock = date.toISOString().slice(11, seconds % 60 ? 19 : 16);
  if (seconds % DAY === 0) return day;
  return first ? `${day}, ${clock}` : clock;
}
