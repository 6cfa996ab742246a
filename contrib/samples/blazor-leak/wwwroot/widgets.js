// SPDX-License-Identifier: MIT
// What the program calls, by these names, in JavaScript.
class Widget {
    constructor(number) {
        this.number = number;
    }
}

const listeners = [];

globalThis.widgets = {
    draw: number => new Widget(number),
    listen(listener) {
        listeners.push(listener);
    },
};

addEventListener('resize', () => listeners.forEach(listener => listener.invokeMethodAsync('Changed').catch(() => {})));
