/** A visit: one study, the rater's order of its questions, and the answers; in the tab's storage with each answer. */

const PLACE = 'likeness-eyes';
export const AHEAD = 2; // questions whose images are ready before they are asked
export const FIRST_REPORT = 20; // new questions answered
const GOALS = [FIRST_REPORT, 50, 100, 200];

export const random = () => crypto.getRandomValues(new Uint32Array(1))[0];

const place = ({ order, seed, rater }) => `${order} ${seed} ${rater}`;

/** Which judgments count: the last of each rater, seed and order, unless undone. Pure. */
export function standing(judgments) {
  const last = new Map(judgments.map((each) => [place(each), each]));
  return [...last.values()].filter(({ undone }) => !undone);
}

export class Visit {
  /** `facts` as the server opens a study; `unsent` are answers that it has not got yet. */
  constructor({ source, study, id, key, asks, rater, seed, order, judgments, unsent = [] }) {
    Object.assign(this, { source, study, id, key, asks, rater: rater || 'me', seed, order, judgments, unsent });
  }

  /** Whether the models have not picked yet. */
  get waits() {
    return !this.study.chance?.length;
  }

  /** How many new questions stay as they are once the models have picked: those answered, shown and made ready. */
  get early() {
    return this.order.slice(0, this.place + 1 + AHEAD).filter(([, draw]) => draw !== 'repeat').length;
  }

  /** Takes over what the models pick and the order from here on; false where it begins before the rater's place. */
  complete({ picked, order, id }) {
    const seen = (questions) => JSON.stringify(questions.slice(0, this.place + 1));
    if (seen(order) !== seen(this.order)) return false;
    Object.assign(this.study, picked);
    Object.assign(this, { order, id });
    this.store();
    return true;
  }

  /** The visit that this tab was left in; null without one. */
  static stored() {
    try {
      const facts = JSON.parse(sessionStorage.getItem(PLACE));
      return facts && new Visit({ ...facts, id: '' }); // the server forgot the study with the page
    } catch {
      return null;
    }
  }

  static forget() {
    sessionStorage.removeItem(PLACE);
  }

  store() {
    try {
      sessionStorage.setItem(PLACE, JSON.stringify(this));
    } catch {
      // The storage is full or forbidden: the answers last as long as the page.
    }
  }

  /** Numbers of the contents that are images. */
  get images() {
    const first = this.study.kind === 'text' ? 1 : 0;
    return new Set(this.study.questions.flatMap((question) => question.slice(first)).filter((at) => at >= 0));
  }

  /** The rater's place in the order. */
  get place() {
    return standing(this.judgments).filter(({ rater, seed, draw }) => rater === this.rater && seed === this.seed && draw !== 'given').length;
  }

  /** New questions that are answered, of all raters: what a report counts. */
  get count() {
    return standing(this.judgments).filter(({ draw }) => draw !== 'repeat').length;
  }

  /** The place in the order at which the next goal is reached: repeated questions are answers too. */
  get goal() {
    const fresh = this.order.map(([, draw], at) => (draw === 'repeat' ? -1 : at)).filter((at) => at >= 0);
    const done = fresh.filter((at) => at < this.place).length;
    const next = GOALS.find((each) => each > done) ?? fresh.length;
    return (fresh[next - 1] ?? this.order.length - 1) + 1;
  }

  /** The question at a place: {texts or numbers of `reference`, `left`, `right`}; null after the last. */
  asked(place) {
    if (place >= this.order.length) return null;
    const [question, draw, left] = this.order[place];
    const [reference, ...alternatives] = this.study.questions[question];
    return { question, draw, side: left, reference, left: alternatives[left], right: alternatives[1 - left] };
  }

  /** Adds the answer at the place: the alternative 0 or 1, or null for "cannot tell". Hands back the judgment. */
  answer(choice, seconds) {
    const { question, draw, side } = this.asked(this.place);
    return this.#add({ order: this.place, question, draw, left: side, choice, undone: false, seconds });
  }

  /** Takes the last answer back; null where there is none. */
  undo() {
    const order = this.place - 1;
    const last = standing(this.judgments).find((each) => each.order === order && each.rater === this.rater && each.seed === this.seed);
    return last ? this.#add({ ...last, undone: true }) : null;
  }

  /** Adds others' judgments of the same questions, where a newer one replaces an older; returns a sentence, as the command's. */
  merge(judgments) {
    const known = new Map(this.judgments.map((each) => [place(each), each]));
    const found = { added: [], changed: [], same: [], older: [] };
    for (const each of standing(judgments)) {
      const old = known.get(place(each));
      const kind = !old ? 'added' : old.choice === each.choice && !old.undone ? 'same' : Date.parse(each.time) < Date.parse(old.time) ? 'older' : 'changed';
      found[kind].push(each);
    }
    const { added, changed, same, older } = found;
    this.#keep([...added, ...changed]);
    const raters = [...new Set(judgments.map(({ rater }) => rater))];
    const more = [[same, 'were here already'], [older, 'are older than the answers here']].filter(([rows]) => rows.length).map(([rows, words]) => `; ${rows.length} ${words}`);
    return `${added.length} judgments added by ${raters.slice(0, 5).join(', ')}${raters.length > 5 ? ` and ${raters.length - 5} more` : ''}, ${changed.length} changed; sides and raters are the study’s${more.join('')}.`;
  }

  #add(facts) {
    const judgment = { ...facts, time: new Date().toISOString(), rater: this.rater, seed: this.seed };
    this.#keep([judgment]);
    return judgment;
  }

  #keep(judgments) {
    this.judgments.push(...judgments);
    if (this.source === 'folder') this.unsent.push(...judgments);
    this.store();
  }
}
