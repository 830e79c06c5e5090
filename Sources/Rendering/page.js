// Reads a page as a person sees it, and acts on it as a person would. Runs in an isolated world: the page's scripts cannot change these functions or
// their data. The elements that these functions see belong to the page, and are hostile.
(() => {
  if (globalThis.hotspot) return;

  const limits = { octets: 180000, nodes: 20000, depth: 100, controls: 150, choices: 500, name: 60, text: 2000 };
  // The last reading: controls by form and name, buttons and links by their keys.
  let shown = { fields: new Map(), buttons: new Map(), links: new Map() };

  // MARK: Kinds of elements

  const squeezed = (text) => (text ?? "").replace(/\s+/g, " ").trim();
  const slug = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "_").replace(/^_+|_+$/g, "").slice(0, 40);
  const attribute = (element, name) => squeezed(element.getAttribute(name));
  const escaped = (text) => text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
  const children = (node) => {
    if (node.shadowRoot) return [...node.shadowRoot.childNodes];
    if (node.localName === "slot" && node.assignedNodes().length) return node.assignedNodes();
    if (node.localName === "iframe" || node.localName === "frame") {
      const inner = own(node)?.body;
      return inner ? [inner] : [];
    }
    return [...node.childNodes];
  };
  // Returns the document of a frame of the page's own origin.
  const own = (frame) => {
    try { return frame.contentDocument; } catch { return null; }
  };
  const absolute = (reference, element) => {
    try { return new URL(reference, element.ownerDocument.baseURI).href; } catch { return ""; }
  };
  const titleOf = Object.getOwnPropertyDescriptor(Document.prototype, "title").get;
  const isDisabled = (element) => element.disabled === true || element.matches(":disabled") || attribute(element, "aria-disabled") === "true";
  const role = (element) => attribute(element, "role").split(" ")[0];

  // Returns whether an element and everything in it is hidden.
  const isGone = (element, style) =>
    style.display === "none" || style.contentVisibility === "hidden" || parseFloat(style.opacity) < 0.05;
  // Returns whether an element has a box on the page that a person can see.
  const isSeen = (element) => {
    const box = element.getBoundingClientRect();
    return box.width > 1 && box.height > 1 && box.right + scrollX > 0 && box.bottom + scrollY > 0
      && getComputedStyle(element).visibility === "visible";
  };
  // Returns whether an element is cut down to a dot or lies off the page, as text for screen readers does.
  const isDot = (element, style) => {
    if (style.position !== "absolute" && style.position !== "fixed") return false;
    const box = element.getBoundingClientRect();
    return (box.width <= 1 && box.height <= 1 && style.overflow !== "visible") || box.right + scrollX < 0 || box.bottom + scrollY < 0;
  };
  const textOf = (node, limit = limits.name * 2) => {
    let text = "";
    const visit = (node, depth) => {
      if (text.length > limit || depth > limits.depth) return;
      if (node.nodeType === Node.TEXT_NODE) text += node.data;
      if (node.nodeType !== Node.ELEMENT_NODE || ["script", "style", "select", "textarea", "noscript"].includes(node.localName)) return;
      const style = getComputedStyle(node);
      if (isGone(node, style)) return;
      if (style.display !== "inline") text += " ";
      if (node.localName === "img") text += " " + attribute(node, "alt");
      for (const child of children(node)) visit(child, depth + 1);
    };
    visit(node, 0);
    return squeezed(text).slice(0, limit);
  };

  const byIDs = (element, name) => attribute(element, name).split(" ").filter(Boolean)
    .map((id) => element.getRootNode().getElementById?.(id)).filter(Boolean);

  const groupName = (element) => {
    const group = element.closest("[role=group], fieldset");
    return group ? byIDs(group, "aria-labelledby").map((node) => textOf(node)).join(" ") || attribute(group, "aria-label")
      || textOf(group.querySelector("legend") ?? group) : "";
  };

  // Returns the name of a control in words: its label, otherwise the only text beside it.
  const label = (element, isRow) => {
    const names = isRow ? [groupName(element)] : [
      byIDs(element, "aria-labelledby").map((node) => textOf(node)).join(" "), attribute(element, "aria-label"),
      [...(element.labels ?? [])].map((node) => textOf(node)).join(" "),
      attribute(element, "placeholder"), attribute(element, "title"),
    ].map(squeezed);
    const name = names.find(Boolean) || (squares.has(element) ? textOf(element, limits.text) : "");
    return name || textAround(isRow ? element.parentElement : element, squares.has(element) ? 300 : 80);
  };
  // Returns the text of the nearest element that has text and contains this control, but no other control.
  const textAround = (element, limit) => {
    let around = element;
    for (let step = 0; step < 3 && (around = around.parentElement); step++) {
      if (around.querySelectorAll("input:not([type=hidden]), select, textarea, button, [role]").length > 1) break;
      const text = textOf(around, limit + 1);
      if (text) return text.length <= limit ? text : "";
    }
    return "";
  };

  // Returns the kind of a control, such as `text`, `select` or `press`; undefined if the element is not a control.
  const kind = (element) => {
    // Skips a control that is hidden from people: only scripts use it, and the page draws another control in its place.
    if (element.getAttribute("aria-hidden") === "true" && element.tabIndex < 0) return undefined;
    if (element.localName === "input") {
      const type = element.type;
      if (role(element) === "combobox") {
        if (element.readOnly || parseFloat(getComputedStyle(element).opacity) < 0.05) return "list";
        if (["list", "both"].includes(attribute(element, "aria-autocomplete")) || isList(element)) return "search list";
      }
      if (type === "text" && element.readOnly && (element.value === "" || calendars.get(element))) return "calendar";
      if (["text", "password", "email", "tel", "number", "date", "checkbox", "radio", "hidden"].includes(type)) return type;
      if (["search", "url"].includes(type)) return type;
      if (["submit", "button", "image"].includes(type)) return "press";
      return undefined;
    }
    if (element.localName === "select" && !element.multiple) return "select";
    if (element.localName === "textarea") return "textarea";
    switch (role(element)) {
    case "checkbox": case "switch": return "checkbox";
    case "radio": return "radio";
    case "combobox": return "list";
    // If one tab of a list is open, the other tabs are other ways to log in.
    case "tab": return element.closest("[role=tablist]")?.querySelector("[role=tab][aria-selected=true]") ? "tab" : "press";
    case "textbox": return element.isContentEditable ? "text" : undefined;
    case "button": return isList(element) ? "list" : "press";
    case "link": return "press";
    }
    if (element.localName === "button" || element.localName === "summary") return isList(element) ? "list" : "press";
    if (element.localName === "a") return leadsOn(element) ? "link" : "press";
    // Finds buttons that only a script makes: the outermost element with few words over which the pointer becomes a hand.
    const style = getComputedStyle(element);
    if (style.cursor !== "pointer" || element.closest("label, a, button")) return undefined;
    if (element.parentElement && getComputedStyle(element.parentElement).cursor === "pointer") return undefined;
    if (element.querySelector("input, select, textarea, button, a, [role]")) return undefined;
    if (square(element)) return "checkbox";
    const text = textOf(element);
    return text && text.length <= limits.name ? "press" : undefined;
  };
  // Returns the small frame, empty or with a tick, that a page draws in place of a checkbox. Once found, the element counts as a checkbox, however it
  // looks later.
  const squares = new WeakMap();
  const square = (element) => {
    if (squares.has(element)) return squares.get(element);
    const isSquare = (node) => {
      const box = node.getBoundingClientRect();
      const isSmall = box.width >= 8 && box.width <= 40 && Math.abs(box.width - box.height) <= 4;
      if (!isSmall || !/^[✓✔☑√]?$/.test(squeezed(node.textContent))) return false;
      const style = getComputedStyle(node);
      // A circle is a radio button, not a checkbox.
      return parseFloat(style.borderTopLeftRadius) < box.width / 3
        && ["Top", "Right", "Bottom", "Left"].every((side) => parseFloat(style[`border${side}Width`]) > 0);
    };
    const found = [element, ...[...element.querySelectorAll("*")].slice(0, 20)].filter(isSquare);
    if (found.length !== 1 || !(textOf(element) || textAround(element, 300))) return undefined;
    squares.set(element, { frame: found[0], isTicked: squeezed(found[0].textContent) !== "" || found[0].childElementCount > 0 });
    return squares.get(element);
  };
  const isList = (element) => attribute(element, "aria-haspopup") === "listbox";
  const leadsOn = (link) => {
    const reference = link.getAttribute("href");
    return reference !== null && reference !== "" && !reference.startsWith("#") && !/^\s*javascript:/i.test(reference)
      && !["button"].includes(role(link));
  };
  const buttonText = (element) =>
    (element.localName === "input" ? squeezed(element.value) || attribute(element, "alt") : textOf(element, limits.name))
      || attribute(element, "aria-label") || attribute(element, "title");
  // Returns whether a button may send a form: it has words, and opens nothing. A symbol beside a field, such as an eye that shows a password, does
  // not send.
  const sends = (button) => ["", "false"].includes(attribute(button, "aria-haspopup")) && !button.hasAttribute("aria-expanded")
    && /\p{L}/u.test(button.localName === "input" ? button.value || attribute(button, "alt") : textOf(button));
  // Returns a button's words without a number of seconds in brackets, which counts down until the button can be pressed.
  const steady = (text) => text.replace(/\s*[([]\d{1,3}\s*s?[)\]]$/u, "");
  const typed = new Set(["text", "password", "email", "tel", "number", "date", "search", "search list", "url", "textarea"]);
  const isTyped = (kind) => typed.has(kind);
  const isChecked = (element) => element.checked ?? squares.get(element)?.isTicked ?? attribute(element, "aria-checked") === "true";

  // Returns the options of a list that scripts draw; none if the options are not in the page.
  const options = (list) => {
    const box = [...byIDs(list, "aria-controls"), ...byIDs(list, "aria-owns")].find((node) => node.querySelector("[role=option]"))
      ?? list.querySelector("[role=option]")?.parentElement
      ?? list.parentElement?.querySelector("[role=option]")?.closest("[role=listbox]");
    return box ? [...box.querySelectorAll("[role=option]")].slice(0, limits.choices) : [];
  };
  const optionText = (option) => textOf(option) || squeezed(option.textContent);
  // The options that a list showed when it was opened, because some lists have none while they are closed.
  const opened = new WeakMap();
  const optionTexts = (list) => {
    const texts = opened.get(list) ?? [];
    return texts.length ? texts : options(list).map(optionText);
  };

  // Returns the elements that serve as forms outside of the page's own forms, each with its kind: "fields", "button" or "layer".
  //
  // All fields are one form: the smallest element that contains them and a button. If groups of fields each have a button of their own, and no button
  // is left over, each group is a form. Any other button is a form, with its layer or with everything around it that belongs to no other control.
  const drawnForms = (root) => {
    const fields = [], buttons = [], drawn = new Map();
    const visit = (node, depth, inForm) => {
      if (node.nodeType !== Node.ELEMENT_NODE || depth > limits.depth) return;
      if (isOfCalendar(node)) return;
      const what = kind(node);
      if (isGone(node, getComputedStyle(node)) && !["checkbox", "radio"].includes(node.type) && what !== "list") return;
      if (!inForm && isActive(what)) (what === "press" ? buttons : fields).push(node);
      for (const child of children(node)) visit(child, depth + 1, inForm || node.localName === "form");
    };
    visit(root, 0, false);
    const climb = (node, isDone) => {
      while (node && node !== root && above(node) && !isDone(node)) node = above(node);
      return node ?? root;
    };
    const senders = buttons.some(sends) ? buttons.filter(sends) : buttons;
    const hasButton = (node) => senders.some((button) => holds(node, button));
    if (fields.length) {
      const around = climb(fields[0], (node) => fields.every((field) => holds(node, field)));
      const own = [...new Set(fields.map((field) => climb(field, hasButton)))];
      const areApart = own.length > 1 && own.every((one) => own.every((other) => one === other || !holds(one, other)))
        && senders.every((button) => !holds(around, button) || own.some((one) => holds(one, button)));
      for (const one of areApart ? own : [climb(around, hasButton)]) drawn.set(one, "fields");
    }
    const isLayer = (node) => ["fixed", "sticky"].includes(getComputedStyle(node).position)
      || ["dialog", "alertdialog"].includes(role(node)) || node.localName === "dialog";
    const taken = [...drawn.keys()];
    const isApart = (node) => node !== root && !taken.some((form) => holds(node, form) || holds(form, node))
      && node.querySelector("form, input:not([type=hidden]), select, textarea") === null;
    for (const button of buttons) {
      if (taken.some((form) => holds(form, button))) continue;
      let [region, step] = [button, button];
      while ((step = above(step)) && isApart(step) && !drawn.has(step)) {
        if (isLayer(step)) { region = step; break; }
        if (buttons.filter((other) => holds(step, other)).length === 1) region = step;
      }
      if (region !== button) drawn.set(region, isLayer(region) ? "layer" : "button");
    }
    return drawn;
  };

  const above = (node) => node.parentElement ?? node.getRootNode().host ?? node.ownerDocument.defaultView?.frameElement ?? null;
  const holds = (node, inner) => {
    for (let step = inner; step; step = above(step)) if (step === node) return true;
    return false;
  };
  // Returns whether a person fills in or presses a control of this kind.
  const isActive = (what) => what && !["hidden", "link", "tab"].includes(what);

  // Returns the layer that covers all controls in sight and has controls of its own: a dialog, which a person answers first. Null if there is none.
  const cover = () => {
    const controls = [...document.querySelectorAll("input:not([type=hidden]), select, textarea, button, [role=button]")].filter(isSeen);
    let found = null;
    for (const control of controls.slice(0, limits.controls)) {
      const top = atPoint(control);
      if (!top || holds(top, control) || holds(control, top)) continue;
      let layer = null;
      for (let step = top; step && !holds(step, control); step = above(step)) {
        if (["fixed", "absolute", "sticky"].includes(getComputedStyle(step).position) || step.localName === "dialog") layer = step;
      }
      if (layer && [...layer.querySelectorAll("*")].some((element) => isActive(kind(element)))) found = layer;
    }
    if (!found) return null;
    // If a control outside the layer is in sight, a person can use the page as well, so the layer is ignored.
    return controls.some((control) => !holds(found, control) && isReachable(control)) ? null : found;
  };
  // Returns whether nothing covers a field. A field that is covered or cut away is a trap: a person would not type in it.
  const isOnTop = (field) => {
    if (atPoint(field) === null) field.scrollIntoView({ block: "center", behavior: "instant" });
    const top = topAt(field);
    // An element around the field may be on top only if the field lets clicks through; otherwise the field is cut away, or lies behind that element.
    return top === null || holds(field, top) || [...(field.labels ?? [])].some((label) => holds(label, top))
      || (holds(top, field) && getComputedStyle(field).pointerEvents === "none");
  };
  const topAt = (field) => {
    const inner = field.getRootNode();
    const box = field.getBoundingClientRect();
    return inner.elementFromPoint?.(box.left + box.width / 2, box.top + box.height / 2) ?? null;
  };

  // Returns the topmost element at the middle of a control; null if that point is out of sight.
  const atPoint = (control) => {
    const box = control.getBoundingClientRect();
    const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    return x < 0 || y < 0 || x >= innerWidth || y >= innerHeight ? null : document.elementFromPoint(x, y);
  };
  const isReachable = (control) => {
    const top = atPoint(control);
    return top !== null && (holds(top, control) || holds(control, top));
  };

  // Returns an element's classes without names such as `hidden`: the HTML reader takes these for hidden elements, but each element in the markup is
  // visible.
  const classes = (element) => attribute(element, "class").split(" ")
    .filter((name) => !["hidden", "d-none", "hide", "is-hidden", "ng-hide", "invisible", "uk-hidden"].includes(name)).join(" ").slice(0, 100);

  // MARK: Reading

  // Scrolls everything to its end if a button is disabled: some pages enable it once the terms were scrolled to their end.
  const scrollToEnds = () => {
    const disabled = [...document.querySelectorAll(":disabled, [disabled], [aria-disabled=true]")];
    if (!disabled.some((element) => isDisabled(element) && kind(element) === "press" && isSeen(element))) return;
    for (const element of document.querySelectorAll("*")) {
      if (element.scrollHeight > element.clientHeight + 8 && ["auto", "scroll"].includes(getComputedStyle(element).overflowY)) {
        element.scrollTop = element.scrollHeight;
      }
    }
  };

  // Reads the content of an element. The identifiers that join labels to controls begin with `mark`.
  const reading = (root, drawn, mark = "") => {
    const next = { fields: new Map(), buttons: new Map(), links: new Map() };
    const out = [], told = [], asked = [], opened = new Map();
    let octets = 0, nodes = 0, controls = 0, form = 0, forms = 0, radios = 0, frames = 0, isOfButton = false, hasSender = false;
    let isIdle = true;
    const add = (text) => { octets += text.length; if (octets <= limits.octets) out.push(text); };
    const keys = new Map();
    const labelled = new Map();

    const isRandom = (name) => /[:«»]|\d{4,}|^[0-9a-f-]{12,}$/i.test(name);
    const unique = (key, of) => {
      const count = (keys.get(of + key) ?? 0) + 1;
      keys.set(of + key, count);
      return count > 1 ? `${key}_${count}` : key;
    };
    const key = (element, what, name) => {
      const given = [attribute(element, "name"), element.id, attribute(element, "autocomplete")]
        .find((word) => word && word.length <= 80 && !isRandom(word) && !["on", "off"].includes(word));
      return given ?? (slug(name) || what);
    };
    const number = (element) => {
      if (!labelled.has(element)) labelled.set(element, `${mark}n${labelled.size}`);
      return labelled.get(element);
    };

    const formTag = (hints, action, method) => `<form${hints} action="${escaped(action)}" method="${method}">`;
    const openForm = (element, hints, action, method) => {
      [form, forms] = [forms + 1, forms + 1];
      opened.set(form, { at: out.length, hints, action, method });
      add(formTag(hints, action, method));
    };
    const closeForm = () => { opened.get(form).end = out.length; [form, isOfButton, hasSender] = [0, false, false]; };
    const hasSenders = (element) => [...element.querySelectorAll("button, input, [role=button]")]
      .some((node) => kind(node) === "press" && isSeen(node) && sends(node));
    const hints = (element) => ["class", "id", "role"].map((name) => {
      const value = name === "class" ? classes(element) : attribute(element, name).slice(0, 100);
      return value && !(name === "id" && isRandom(value)) ? ` ${name === "id" ? "name" : name}="${escaped(value)}"` : "";
    }).join("");

    const button = (element) => {
      const text = buttonText(element);
      if (!text || !isSeen(element)) return;
      const inForm = form > 0;
      if (hasSender && !sends(element)) return add(`${escaped(text)} `);
      if (!inForm) openForm(element, ' data-drawn="button"', "", "post");
      const own = unique(slug(text) || "button", inForm && !isOfButton ? `button ${form} ` : "button ");
      next.buttons.set(`${form} ${own}`, { element, text });
      // A button that is a form of its own gets its words as its name, by which it is recognised.
      const given = inForm && !isOfButton ? (element.name && !isRandom(element.name) ? element.name : "") : `press_${own}`;
      const name = given ? ` name="${escaped(given)}"` : "";
      add(`<button type="submit"${name} value="${escaped(own)}"${isDisabled(element) ? " disabled" : ""}>${escaped(text)}</button>`);
      asked.push(`b:${text}`);
      if (!isDisabled(element)) isIdle = false;
      if (!inForm) { add("</form>"); closeForm(); }
    };

    const field = (element, what) => {
      // A row of boxes for one character each is one field.
      const parts = isTyped(what) && element.maxLength === 1 ? row(element) : [element];
      if (parts[0] !== element) return;
      const isRow = parts.length > 1;
      const name = label(element, isRow);
      const isBox = what === "checkbox" || what === "radio";
      // A checkbox or radio button may be hidden, because its label often draws it.
      if (!isBox && !isBeneath && !isOnTop(element)) return;
      if (!isSeen(element) && !(isBox && [...(element.labels ?? []), element.parentElement].some((node) => node && isSeen(node)))) return;
      if (++controls > limits.controls) return;
      const own = what === "radio"
        ? key(element, "radio", textOf(element.closest("[role=radiogroup], fieldset") ?? element)) : unique(key(element, what, name), `field ${form} `);
      const id = `${form} ${own}`;
      next.fields.set(id, { kind: what, elements: what === "radio" ? [...(next.fields.get(id)?.elements ?? []), element] : parts, name });
      const isDate = what === "calendar" && calendars.get(element) === true;
      const isChoice = what === "list" || (what === "search list" && optionTexts(element).length > 0);
      let words = ` id="${number(element)}" name="${escaped(own)}"`;
      if (name) words += ` aria-label="${escaped(name.slice(0, 300))}"`;
      if (element.required || attribute(element, "aria-required") === "true") words += " required";
      // A list, or a field that a calendar fills in, is not marked as read-only: nobody types in it, but it can be filled in.
      if (what !== "list" && !isDate && (element.readOnly || attribute(element, "aria-readonly") === "true")) words += " readonly";
      if (isDisabled(element)) words += " disabled";
      asked.push(`${what}:${own}:${name}`);
      isIdle = false;
      if (what === "select") {
        const choices = [...element.options].slice(0, limits.choices).map((option) =>
          `<option value="${escaped(option.value)}"${option.selected ? " selected" : ""}${option.matches(":disabled") ? " disabled" : ""}>`
            + `${escaped(squeezed(option.text))}</option>`);
        return add(`<select${words}>${choices.join("")}</select>`);
      }
      if (isChoice) {
        const current = squeezed(element.value ?? "") || textOf(element);
        const texts = optionTexts(element);
        const choices = texts.map((text) =>
          `<option value="${escaped(text)}"${text === current ? " selected" : ""}>${escaped(text)}</option>`);
        const none = texts.includes(current) ? "" : `<option value="" selected>${escaped(current)}</option>`;
        return add(`<select${words}>${none}${choices.join("")}</select>`);
      }
      if (isBox) {
        const value = what === "radio" ? (element.value && element.value !== "on" ? element.value : attribute(element, "data-value") || slug(name) || `${radios++}`) : "on";
        return add(`<input type="${what}"${words} value="${escaped(value)}"${isChecked(element) ? " checked" : ""}>`);
      }
      const value = isRow ? parts.map((part) => part.value).join("") : element.value ?? textOf(element);
      const type = isDate ? "date" : ["number", "url", "calendar", "search list"].includes(what) ? "text" : what;
      const most = isRow ? parts.length : element.maxLength;
      if (most > 0) words += ` maxlength="${most}"`;
      const kept = what === "password" ? "" : ` value="${escaped(squeezed(value).slice(0, 200))}"`;
      add(what === "textarea" ? `<textarea${words}>${escaped(value.slice(0, 200))}</textarea>` : `<input type="${type}"${words}${kept}>`);
    };
    // Returns the row of boxes for one character each to which this box belongs; only this box if there is no row.
    const row = (element) => {
      let around = element.parentElement;
      for (let step = 0; step < 3 && around; step++, around = around.parentElement) {
        const boxes = [...around.querySelectorAll("input")].filter((box) => box.maxLength === 1 && isTyped(kind(box)) && isSeen(box));
        if (boxes.length > 2) return boxes;
      }
      return [element];
    };

    const plain = new Set(["div", "span", "p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "table", "tbody", "tr", "td", "th",
      "section", "article", "main", "header", "footer", "nav", "aside", "fieldset", "legend", "small", "strong", "b", "em", "dl", "dt", "dd"]);

    // Adds a picture, or a frame of another origin. By its address and classes, the reader recognises a captcha.
    const picture = (element, words) => {
      const marks = ["class", "id", "src"].map((name) => ` ${name}="${escaped(attribute(element, name).slice(0, 200))}"`).join("");
      add(`<img alt="${escaped(attribute(element, words).slice(0, 100))}"${marks}>`);
    };

    const visit = (node, depth) => {
      if (octets > limits.octets || ++nodes > limits.nodes || depth > limits.depth) return;
      if (node.nodeType === Node.TEXT_NODE) {
        const text = squeezed(node.data);
        if (!text || getComputedStyle(node.parentElement ?? root).visibility !== "visible") return;
        told.push(text);
        return add(`${escaped(node.data.slice(0, limits.text))} `);
      }
      if (node.nodeType !== Node.ELEMENT_NODE) return;
      const element = node, name = element.localName;
      if (["script", "style", "noscript", "template", "link", "meta", "title", "head", "object", "embed"].includes(name)) return;
      if (isOfCalendar(element)) return;
      const style = getComputedStyle(element);
      const what = kind(element);
      if (what === "hidden") {
        if (form > 0 && element.name) {
          add(`<input type="hidden" name="${escaped(element.name)}" value="${escaped(element.value.slice(0, 200))}">`);
        }
        return;
      }
      if (what === "checkbox" || what === "radio") {
        field(element, what);
        if (element.localName === "input") return;
      } else {
        // A transparent field may belong to a list that is drawn beside it, so it is not skipped.
        if ((isGone(element, style) && what !== "list") || isDot(element, style)) return;
        if (what === "press") return button(element);
        if (what === "tab") return add(`${escaped(textOf(element))} `);
        if (what && what !== "link") return field(element, what);
      }
      if (name === "svg" || name === "canvas" || name === "video") return add('<img alt="">');
      if (name === "img") return picture(element, "alt");
      if (name === "br" || name === "hr") return add(`<${name}>`);
      if ((name === "iframe" || name === "frame") && !own(element)) {
        if (!isSeen(element)) return;
        frames += 1;
        return picture(element, "title");
      }
      // Scripts cannot look into this component, so it counts as a frame of another origin.
      if (name.includes("-") && !element.shadowRoot && !squeezed(element.textContent) && !element.childElementCount && isSeen(element)) {
        frames += 1;
        return add(`<iframe src="${escaped(location.href)}" sandbox=""></iframe>`);
      }
      let end = "";
      if (what === "link") {
        const text = textOf(element);
        next.links.set(element.href, { element, text });
        add(`<a href="${escaped(String(element.href).slice(0, 2000))}">`);
        end = "</a>";
        asked.push(`a:${text}`);
      } else if (name === "label") {
        const control = element.control ?? null;
        add(control && kind(control) !== "hidden" ? `<label for="${number(control)}">` : "<span>");
        end = control && kind(control) !== "hidden" ? "</label>" : "</span>";
      } else if (name === "form" && form === 0) {
        // Reads the attributes: a control named `action` would replace the form's property of that name.
        const action = element.getAttribute("action");
        const isGet = action && attribute(element, "method").toLowerCase() !== "post";
        hasSender = hasSenders(element);
        openForm(element, hints(element), action ? absolute(action, element) : "", isGet ? "get" : "post");
        end = "</form>";
      } else if (drawn.has(element) && form === 0) {
        const as = drawn.get(element);
        openForm(element, hints(element) + (as === "fields" ? "" : ` data-drawn="${as}"`), "", "post");
        isOfButton = as !== "fields";
        hasSender = !isOfButton && hasSenders(element);
        end = "</form>";
      } else {
        const tag = plain.has(name) ? name : style.display.startsWith("inline") ? "span" : "div";
        const live = attribute(element, "aria-live");
        const marks = ["class", "role"].map((mark) => {
          const value = mark === "class" ? classes(element) : attribute(element, mark).slice(0, 100);
          return value ? ` ${mark}="${escaped(value)}"` : "";
        }).join("");
        add(`<${tag}${marks}${live === "assertive" && !element.hasAttribute("role") ? ' role="alert"' : ""}>`);
        end = `</${tag}>`;
      }
      const outer = form;
      for (const child of children(element)) visit(child, depth + 1);
      if (end) octets > limits.octets ? out.push(end) : add(end);
      if (end === "</form>") closeForm(); else form = outer;
    };
    visit(root, 0);
    for (const [number, { at, hints, action, method }] of opened) {
      const target = targets.get(fieldsOf(next, number));
      const isRow = partsOf(next.fields, number).some(([, field]) => field.elements.length > 1 && isTyped(field.kind));
      const marks = isRow && !hints.includes("data-drawn") ? ' data-drawn="boxes"' : "";
      if (out[at] && (target || marks)) out[at] = formTag(marks + hints, target ?? action, method);
    }
    const isCut = octets > limits.octets || nodes > limits.nodes;
    return { next, out, told, asked, opened, forms, frames, isIdle, isCut };
  };

  const read = () => {
    scrollToEnds();
    const over = isBeneath ? null : cover();
    const root = over ?? document.body ?? document.documentElement;
    const drawn = over && !over.querySelector("form") ? new Map([[over, "fields"]]) : drawnForms(root);
    const { next, out, told: words, asked, frames, isIdle, isCut, forms } = reading(root, drawn);
    const tabs = over ? null : tablist();
    let number = forms;
    for (const { tab, told, pieces } of (tabs && behindTabs.get(tabs)) ?? []) {
      if (!tab.isConnected || isOpen(tab)) continue;
      // Adds the texts beside the fields, because a price there counts as a price of the page.
      const beside = told.map((text) => escaped(text)).filter((text) => !pieces.some(({ markup }) => markup.includes(text)));
      out.push(`<h2>${escaped(textOf(tab))}</h2>${beside.map((text) => `<p>${text}</p>`).join("")}`);
      for (const { markup, fields, buttons } of pieces) {
        number += 1;
        out.push(markup);
        for (const [name, field] of fields) next.fields.set(`${number} ${name}`, { ...field, tab });
        for (const [key, button] of buttons) next.buttons.set(`${number} ${key}`, { ...button, tab });
      }
    }
    const hasMore = [...next.fields.values()].some(isClosed) || (tabs !== null && !behindTabs.has(tabs));
    shown = next;
    // Removes halves of surrogate pairs and long runs of combining marks: with such text, the answer could not be read.
    const wellFormed = (text) => text.replace(/\p{M}{9,}/gu, "").replace(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g, "");
    // The page's numbers, read as seconds, or as minutes and seconds.
    const counters = ([...words, ...asked].join(" ").match(/(\d{1,4}:)?\d{1,4}/g) ?? []).slice(0, 40)
      .map((text) => text.split(":").reduce((sum, part) => sum * 60 + Number(part), 0));
    const still = (text) => text.replace(/\d+/g, "#");
    return {
      markup: wellFormed(`<!DOCTYPE html><html><head><title>${escaped(squeezed(titleOf.call(document)).slice(0, 200))}</title></head><body>${out.join("")}</body></html>`),
      address: location.href, isCover: over !== null, hasMore, isComplete: document.readyState === "complete", frames, isIdle, counters,
      controls: wellFormed(still(asked.join("\n"))), words: wellFormed(still(words.join(" ")).slice(0, 20000)), isCut,
    };
  };

  // By the names of a form's fields: the address to which scripts send the answers, once known. The markup shows it in place of the form's own
  // address.
  const targets = new Map();
  const leadsTo = (form, address) => { targets.set(fieldsOf(shown, form), address); };
  const fieldsOf = (reading, form) => [...reading.fields.keys()].filter((id) => id.startsWith(`${form} `)).map((id) => id.slice(id.indexOf(" "))).join();

  // Whether to read the page below a layer as well.
  let isBeneath = false;
  const lookBeneath = () => { isBeneath = true; };

  // MARK: Acting

  const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
  const events = (element, kinds, type = Event, more = {}) => {
    for (const kind of kinds) element.dispatchEvent(new type(kind, { bubbles: true, cancelable: true, composed: true, ...more }));
  };
  // Clicks an element, unless the page changes it while the pointer presses it. Returns whether the element was clicked.
  const click = (element, isSame = () => true) => {
    element.scrollIntoView({ block: "center", behavior: "instant" });
    const pointer = { view: window, button: 0, detail: 1, pointerId: 1, isPrimary: true, pointerType: "mouse" };
    events(element, ["pointerover", "pointerenter", "pointerdown"], PointerEvent, pointer);
    events(element, ["mousedown"], MouseEvent, pointer);
    element.focus?.({ preventScroll: true });
    events(element, ["pointerup"], PointerEvent, pointer);
    events(element, ["mouseup"], MouseEvent, pointer);
    if (!isSame()) return false;
    element.click();
    return true;
  };
  const bare = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
  const current = (element) => element.isContentEditable ? element.textContent : element.value;

  // Types into a field, one character after another. Returns whether the page has accepted the text, perhaps in another notation.
  const type = (elements, text) => {
    const whole = elements.length > 1 ? [...text] : [text];
    if (elements.length > 1 && whole.length > elements.length) return false;
    for (const [index, element] of elements.entries()) {
      const part = whole[index] ?? "";
      element.focus({ preventScroll: true });
      if (element.getRootNode().activeElement !== element) return false;
      element.select?.();
      if (element.isContentEditable) element.ownerDocument.execCommand("selectAll");
      if (part === "" && current(element) !== "") element.ownerDocument.execCommand("delete");
      const letters = element.type === "date" || element.type === "number" ? [] : [...part];
      for (const letter of letters) {
        const typed = { key: letter, code: "" };
        events(element, ["keydown"], KeyboardEvent, typed);
        if (element.getRootNode().activeElement !== element) element.focus({ preventScroll: true });
        element.ownerDocument.execCommand("insertText", false, letter);
        events(element, ["keyup"], KeyboardEvent, typed);
      }
      if (!isTaken(current(element), part)) {
        const prototype = element.localName === "textarea" ? HTMLTextAreaElement.prototype : HTMLInputElement.prototype;
        const write = Object.getOwnPropertyDescriptor(prototype, "value")?.set;
        if (!write || !["input", "textarea"].includes(element.localName)) return false;
        write.call(element, part);
        events(element, ["input"], InputEvent, { inputType: "insertText", data: part });
      }
      events(element, ["change"]);
      if (index === elements.length - 1) { element.blur(); events(element, ["focusout"], FocusEvent); }
    }
    return isTaken(elements.map(current).join(""), text);
  };
  // Returns whether a field's value is the typed text. A page may add other characters, and the country's prefix to a number.
  const isTaken = (value, text) => {
    const [shown, typed] = [bare(value), bare(text)];
    return shown.includes(typed) || (/^\d{6,}$/.test(typed) && shown.endsWith(typed.slice(-6)));
  };

  // Fills in a field of the last reading. Returns whether the page has accepted the value.
  const fill = async (form, name, value) => {
    const field = shown.fields.get(`${form} ${name}`);
    if (!field || !field.elements.every((element) => element.isConnected)) return false;
    const [element] = field.elements;
    if (field.kind === "checkbox") {
      if (isChecked(element) === (value !== null)) return true;
      const square = squares.get(element), before = square && looks(element, square.frame);
      click(element);
      await pause(square ? 80 : 20);
      if (square && looks(element, square.frame) !== before) square.isTicked = !square.isTicked;
      return isChecked(element) === (value !== null);
    }
    if (value === null) return true;
    if (field.kind === "radio") {
      const chosen = field.elements.find((radio) => [radio.value, attribute(radio, "data-value"), slug(label(radio))].includes(value)) ?? element;
      if (!isChecked(chosen)) click(chosen);
      return isChecked(chosen);
    }
    if (field.kind === "select") {
      if (element.value === value) return true;
      element.focus({ preventScroll: true });
      element.value = value;
      events(element, ["input", "change"]);
      return element.value === value;
    }
    if (field.kind === "list" || field.kind === "search list") return choose(element, value);
    if (field.kind === "calendar") {
      const shows = dated.get(element);
      return (shows?.date === value && shows.text === element.value) || pickDate(element, value);
    }
    if (current(element) === value) return true;
    return type(field.elements, value);
  };

  // Returns the look of a drawn checkbox, to see whether a click has changed it.
  const looks = (element, frame) => {
    const style = getComputedStyle(frame);
    return [element.outerHTML, style.backgroundColor, style.backgroundImage, style.borderTopColor, style.boxShadow].join();
  };

  // Opens a list that scripts draw, and picks the option with these words. If no option has them, types the words into the list's field.
  const choose = async (list, text) => {
    if (squeezed(list.value ?? "") === text || textOf(list) === text) return true;
    const isMeant = (option) => bare(optionText(option)) === bare(text);
    let option = (await open(list)).find(isMeant);
    if (!option && list.localName === "input" && !list.readOnly) {
      list.focus({ preventScroll: true });
      list.select();
      for (const letter of text) list.ownerDocument.execCommand("insertText", false, letter);
      for (let step = 0; step < 20 && !(option = shownOptions(list).find(isMeant)); step++) await pause(100);
      // Some lists also accept typed text that is not an option.
      if (!option) {
        events(list, ["change"]);
        list.blur();
        await pause(50);
        return isTaken(list.value, text);
      }
    }
    if (!option) return false;
    click(option);
    await pause(50);
    return true;
  };
  const open = async (list) => {
    const before = new Set(), words = () => [...list.ownerDocument.body.querySelectorAll("*")]
      .filter((element) => !element.childElementCount && squeezed(element.textContent) && isSeen(element));
    words().forEach((element) => before.add(element));
    for (let step = 0; step < 10; step++) {
      const found = shownOptions(list);
      if (found.length) return found;
      if (step === 0) click(list);
      await pause(50);
    }
    // If the options have no role, the texts that have appeared count as options.
    return kind(list) === "search list" ? [] : words().filter((element) => !before.has(element)).slice(0, limits.choices);
  };
  const shownOptions = (list) =>
    [...new Set([...options(list), ...list.ownerDocument.querySelectorAll("[role=listbox] [role=option]")])].filter(isSeen);
  // Returns whether a field must be opened to be read: a list without options, or a field that may have a calendar.
  const isClosed = ({ kind, elements: [element], tab }) =>
    tab === undefined && (((kind === "list" || kind === "search list") && !opened.has(element) && !optionTexts(element).length)
      || (kind === "calendar" && !calendars.has(element)));
  // Opens tabs, calendars, and lists whose options are not in the page. Reads them, and closes them again.
  const readMore = async () => {
    const end = performance.now() + 5000;
    await readClosed(end);
    if (performance.now() < end) await readTabs(end);
  };
  const readClosed = async (end) => {
    for (const { kind, elements: [element] } of [...shown.fields.values()].filter(isClosed).slice(0, 5)) {
      if (performance.now() > end) return;
      if (kind === "calendar") {
        const before = await openCalendar(element);
        calendars.set(element, before !== null);
        if (before) await closeList(element, shownDays(element).filter((node) => !before.has(node)));
        continue;
      }
      const found = (await open(element)).slice(0, limits.choices);
      opened.set(element, kind === "list" || showsAll(found) ? found.map(optionText) : []);
      await closeList(element, found);
    }
  };
  // Returns whether all options are in the page. For a list with a search, the page may contain only the options in sight.
  const showsAll = (options) => {
    let box = options[0]?.parentElement;
    while (box && box.scrollHeight <= box.clientHeight + 8) box = box.parentElement;
    const height = options.reduce((sum, option) => sum + option.getBoundingClientRect().height, 0);
    return !box || !box.contains(options.at(-1)) || box.scrollHeight < height * 1.5;
  };
  // Closes a list: some close by the Escape key, some by another click, some by a click beside them.
  const closeList = async (list, shown) => {
    const ways = [
      () => events(list.ownerDocument.activeElement ?? list, ["keydown", "keyup"], KeyboardEvent, { key: "Escape", code: "Escape", keyCode: 27, which: 27 }),
      () => click(list), () => click(list.ownerDocument.elementFromPoint(2, 2) ?? list.ownerDocument.body),
    ];
    for (const way of ways) {
      way();
      for (let step = 0; step < 6; step++) {
        await pause(50);
        if (![...shown, ...shownOptions(list)].some((option) => option.isConnected && isSeen(option))) return;
      }
    }
  };

  // MARK: Calendars

  // By read-only field: whether a calendar fills it in; the date that was picked, with the field's text for that date; the calendar's element.
  const calendars = new WeakMap(), dated = new WeakMap(), calendarBoxes = new Map();
  const yearIn = (text) => Number(text.match(/(?:^|\D)((?:19|20)\d\d)(?!\d)/)?.[1] ?? 0);
  const monthNames = ["en", document.documentElement.lang, navigator.language].flatMap((language) => ["long", "short"].map((month) => {
    try {
      const names = new Intl.DateTimeFormat(language || "en", { month, timeZone: "UTC" });
      return Array.from({ length: 12 }, (_, index) => names.format(Date.UTC(2001, index, 15)).toLowerCase().replace(/\.$/, ""));
    } catch { return []; }
  }));
  // Returns the month that a text names, from 1; 0 if it names none.
  const monthIn = (text) => {
    for (const names of monthNames) {
      const index = names.findIndex((name) => /\p{L}{3}/u.test(name) && text.toLowerCase().includes(name));
      if (index >= 0) return index + 1;
    }
    const number = text.match(/(?:^|\D)(0?[1-9]|1[0-2])\s*[月월/.-]|[年년/.-]\s*(0?[1-9]|1[0-2])(?!\d)/u);
    return Number(number?.[1] ?? number?.[2] ?? 0);
  };
  const isDay = (node) => /^([1-9]|[12]\d|3[01])$/.test(squeezed(node.textContent))
    && ![...node.children].some((child) => squeezed(child.textContent));
  const shownDays = (field) => [...field.ownerDocument.body.querySelectorAll("*")].filter((node) => isDay(node) && isSeen(node));
  // Returns the open calendar: its days in their order, the month that it shows, its lists and its arrows. `null` if none is open.
  const calendar = (field, before) => {
    const days = shownDays(field).filter((node) => !before.has(node));
    if (new Set(days.map((node) => squeezed(node.textContent))).size < 28) return null;
    let box = days[0], others = [];
    const isAround = (node) => !days.some((day) => holds(node, day) || holds(day, node)) && isSeen(node);
    while (!days.every((day) => box.contains(day))) box = box.parentElement;
    for (let step = 0; step < 5; step++) {
      others = [...box.querySelectorAll("*")].filter(isAround);
      if (others.some((node) => yearIn(node.value ?? textOf(node))) || !box.parentElement) break;
      box = box.parentElement;
    }
    const isSelect = (node) => node.localName === "select";
    const years = others.find((node) => isSelect(node) ? [...node.options].some((option) => yearIn(option.text)) : yearIn(node.value ?? ""));
    const months = others.find((node) => isSelect(node) && node.options.length === 12);
    const words = others.filter((node) => !["select", "option"].includes(node.localName)).map((node) => textOf(node)).join(" ");
    // The arrows are buttons without letters and digits.
    const isPressed = (node) => ["button", "a"].includes(node.localName) || role(node) === "button"
      || getComputedStyle(node).cursor === "pointer";
    const arrows = others.filter((node) => isPressed(node) && !/[\p{L}\p{N}]/u.test(textOf(node)) && !isDisabled(node)
      && !node.parentElement?.closest("button, a, [role=button]"));
    const shownYear = years && (isSelect(years) ? years.selectedOptions[0]?.text ?? "" : years.value);
    return { box, days, years, months, arrows, year: yearIn(shownYear ?? words), month: months ? months.selectedIndex + 1 : monthIn(words) };
  };
  // Opens the calendar of a field. Returns the elements that looked like days before it opened; `null` if there is no calendar.
  const openCalendar = async (field) => {
    const before = new Set(shownDays(field).filter((node) => !calendarBoxes.get(field)?.contains(node)));
    click(field);
    for (let step = 0; step < 10; step++) {
      await pause(50);
      const found = calendar(field, before);
      if (!found) continue;
      let { box } = found;
      const isMore = (node) => !node || node.contains(field) || textOf(node, limits.text).length > textOf(box, limits.text).length + 40;
      while (!isMore(box.parentElement)) box = box.parentElement;
      calendarBoxes.set(field, box);
      return before;
    }
    return null;
  };
  // Returns whether an element is the calendar that a field opens. Such a calendar is read as its field.
  const isOfCalendar = (node) => {
    for (const [field, box] of calendarBoxes) if (box === node) return field.isConnected;
    return false;
  };
  const write = (control, value) => {
    Object.getOwnPropertyDescriptor(Object.getPrototypeOf(control), "value").set.call(control, value);
    events(control, ["input", "change"]);
  };
  // Turns a calendar to a month: by its lists or its field for the year, otherwise by its arrows. Tries each arrow once, to learn how far it turns.
  const turn = async (field, before, year, month) => {
    const steps = new Map();
    for (let count = 0; count < 700; count++) {
      const now = calendar(field, before);
      if (!now?.year || !now.month) return null;
      const way = (year - now.year) * 12 + month - now.month;
      if (way === 0) return now;
      if (now.years && now.year !== year) {
        const option = [...now.years.options ?? []].find((option) => yearIn(option.text) === year);
        write(now.years, now.years.localName === "select" ? option?.value ?? "" : `${year}`);
      } else if (now.months && now.month !== month) {
        write(now.months, now.months.options[month - 1].value);
      } else {
        const numbers = now.arrows.map((_, index) => index);
        const best = numbers.filter((index) => steps.get(index) * way > 0 && Math.abs(steps.get(index)) <= Math.abs(way))
          .sort((one, other) => Math.abs(steps.get(other)) - Math.abs(steps.get(one)))[0];
        const index = numbers.find((index) => !steps.has(index)) ?? best;
        if (index === undefined) return null;
        click(now.arrows[index]);
        await pause(steps.has(index) ? 0 : 80);
        const next = steps.has(index) ? null : calendar(field, before);
        if (!steps.has(index)) steps.set(index, next ? (next.year - now.year) * 12 + next.month - now.month : 0);
        continue;
      }
      await pause(30);
      const next = calendar(field, before);
      if (next?.year === now.year && next.month === now.month) return null;
    }
    return null;
  };
  // Picks a date as a person does. Returns whether the field shows it.
  const pickDate = async (field, date) => {
    const [year, month, day] = date.split("-").map(Number);
    const before = await openCalendar(field);
    if (!before) return false;
    const found = await turn(field, before, year, month);
    // The calendar may also show days of the months before and after, so the day is counted from the first day of this month.
    const cell = found?.days[found.days.findIndex((node) => squeezed(node.textContent) === "1") + day - 1];
    if (cell && squeezed(cell.textContent) === `${day}`) click(cell);
    for (let step = 0; cell && step < 10; step++) {
      await pause(50);
      const numbers = (field.value.match(/\d+/g) ?? []).map(Number);
      if (numbers.includes(year) && numbers.includes(day) && (numbers.includes(month) || monthIn(field.value) === month)) {
        dated.set(field, { date, text: field.value });
        return true;
      }
    }
    await closeList(field, shownDays(field).filter((node) => !before.has(node)));
    return false;
  };

  // MARK: Tabs

  // For each list of tabs that was read: the forms behind each tab.
  const behindTabs = new WeakMap();
  const tabLimit = 5;
  const isOpen = (tab) => attribute(tab, "aria-selected") === "true";
  const tabsOf = (list) => [...list.querySelectorAll("[role=tab]")].filter(isSeen);
  // Returns the element that opens a tab; `null` if it leads to another page.
  const handle = (tab) => {
    const inner = tab.localName === "a" ? tab : tab.querySelector("a, button") ?? tab;
    return inner.localName === "a" && leadsOn(inner) ? null : inner;
  };
  // Returns the first list of tabs in which a tab is open.
  const tablist = () => [...document.querySelectorAll("[role=tablist]")].find((list) => {
    const tabs = tabsOf(list);
    return tabs.length > 1 && tabs.length <= tabLimit && tabs.some(isOpen);
  }) ?? null;
  const openTab = async (tab) => {
    if (isOpen(tab)) return true;
    const inner = isDisabled(tab) ? null : handle(tab);
    if (!inner) return false;
    click(inner);
    for (let step = 0; step < 10 && !isOpen(tab); step++) await pause(50);
    // The fields behind the tab may come a moment later, so wait until the page no longer changes.
    let before = "";
    for (let step = 0; step < 8; step++) {
      await pause(80);
      const now = document.body.innerHTML.length + " " + document.querySelectorAll("input, select, button").length;
      if (now === before) break;
      before = now;
    }
    return isOpen(tab);
  };
  const wholePage = (mark) => {
    const root = document.body ?? document.documentElement;
    return reading(root, drawnForms(root), mark);
  };
  const partsOf = (map, form) => [...map.entries()].filter(([id]) => id.startsWith(`${form} `))
    .map(([id, part]) => [id.slice(id.indexOf(" ") + 1), part]);
  // Opens one tab after another, and keeps the forms that no other tab shows. Then reopens the tab that was open before.
  const readTabs = async (end) => {
    const list = tablist();
    if (!list || behindTabs.has(list)) return;
    const tabs = tabsOf(list), first = tabs.find(isOpen), seen = [];
    behindTabs.set(list, []);
    for (const [index, tab] of [first, ...tabs.filter((tab) => tab !== first)].entries()) {
      if (!list.isConnected || performance.now() > end || !(await openTab(tab))) continue;
      if (tab !== first) {
        read();
        await readClosed(end);
      }
      seen.push({ tab, page: wholePage(`t${index}`) });
    }
    await openTab(first);
    const elements = (page, form) => [...partsOf(page.next.fields, form), ...partsOf(page.next.buttons, form)]
      .flatMap(([, part]) => part.elements ?? [part.element]);
    const formsOf = (page) => Array.from({ length: page.forms }, (_, index) => index + 1);
    const keyOf = (page, form) => elements(page, form).map((element) => element.outerHTML.slice(0, 200)).join();
    behindTabs.set(list, seen.map(({ tab, page }) => {
      // A form that is also behind another tab belongs to the page, and is not kept for this tab.
      const others = seen.filter((other) => other.tab !== tab).map(({ page }) => page);
      const isElsewhere = (key) => others.some((other) => formsOf(other).some((form) => keyOf(other, form) === key));
      const own = formsOf(page).filter((form) => !isElsewhere(keyOf(page, form)));
      const told = new Set(others.flatMap((other) => other.told));
      return {
        tab, told: page.told.filter((text) => !told.has(text)),
        pieces: own.filter((form) => partsOf(page.next.buttons, form).length).map((form) => {
          const { at, end } = page.opened.get(form);
          return {
            markup: page.out.slice(at, end).join(""), fields: partsOf(page.next.fields, form), buttons: partsOf(page.next.buttons, form),
          };
        }),
      };
    }));
  };
  // Opens the tab that has a form, if another tab is open. Returns the form's new number; 0 if the form is gone.
  const reach = async (form) => {
    const [fields, buttons] = [partsOf(shown.fields, form), partsOf(shown.buttons, form)];
    const tab = [...fields, ...buttons].map(([, part]) => part.tab).find(Boolean);
    if (!tab) return form;
    if (!tab.isConnected || !(await openTab(tab))) return 0;
    read();
    const names = (parts) => parts.map(([name, { text }]) => text ?? name).sort().join("\n");
    const count = Math.max(0, ...[...shown.fields.keys(), ...shown.buttons.keys()].map((id) => parseInt(id)));
    for (let other = 1; other <= count; other++) {
      const [own, press] = [partsOf(shown.fields, other), partsOf(shown.buttons, other)];
      const isHere = ![...own, ...press].some(([, part]) => part.tab);
      if (isHere && names(own) === names(fields) && names(press) === names(buttons)) return other;
    }
    return 0;
  };

  // Presses a button of the last reading, if it has not changed. Checks again directly before the click, so that the page cannot change the button in
  // between.
  const press = (form, key) => {
    const button = shown.buttons.get(`${form} ${key}`);
    if (!button) return "gone";
    const { element, text } = button;
    const isSame = () => element.isConnected && isSeen(element) && steady(buttonText(element)) === steady(text);
    if (!isSame()) return "changed";
    if (isDisabled(element)) return "disabled";
    return click(element, isSame) ? "pressed" : "changed";
  };
  const follow = (address) => {
    const link = shown.links.get(address);
    if (!link) return "gone";
    const isSame = () => link.element.isConnected && link.element.href === address && textOf(link.element) === link.text;
    return isSame() && click(link.element, isSame) ? "pressed" : "changed";
  };
  // Sends a form that has no button, as the Enter key does.
  const enter = (form) => {
    const fields = [...shown.fields.entries()].filter(([id]) => id.startsWith(`${form} `)).map(([, field]) => field.elements[0]);
    const last = fields.findLast((element) => isTyped(kind(element))) ?? fields.at(-1);
    if (!last?.isConnected) return "gone";
    if (last.form) last.form.requestSubmit();
    else events(last, ["keydown", "keypress", "keyup"], KeyboardEvent, { key: "Enter", code: "Enter", keyCode: 13, which: 13 });
    return "pressed";
  };

  globalThis.hotspot = { read, leadsTo, lookBeneath, readMore, reach, fill, press, follow, enter };
})();
