//! Verbs and their forms: which words tell of a deed, of harm or of a shift, and in what tense.

use std::sync::LazyLock;

use super::wordset::WordMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Something that is done and then is done: «send», «repair».
    Deed,
    /// Being, meaning, saying: nothing is done by it.
    Idle,
    /// Something goes wrong: «fail», «leak».
    Harm,
    /// Something becomes more, less or other: «rise», «postpone».
    Shift,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "a form such as «set» is several at once")]
pub(super) struct Verb {
    pub(super) class: Class,
    pub(super) base: bool,
    pub(super) third: bool,
    pub(super) past: bool,
    pub(super) participle: bool,
    pub(super) ing: bool,
}

const DEEDS: &str = "\
    accept achieve acquire activate add address adapt administer admit adopt analyse analyze announce answer apply approve arrange \
    assemble assess assign attach attend audit automate award bake benchmark book borrow box brief calibrate \
    call cancel carry cement certify chase check circulate clean clear climb close coach code collect compare compile complete \
    compose compost conduct configure confirm connect construct consult contact convert cook copy correct count create crop cull \
    customise debug decommission decorate deliver demo demolish demonstrate deploy deposit descale design develop diagnose \
    disable discharge disconnect discuss dismantle dismount dispatch distribute document donate double-check download draft drain \
    dredge drill dry dust edit elect email e-mail employ empty enable engage enrol enroll erect escalate establish estimate \
    evacuate evaluate examine exchange execute explore export extract fence fill film filter file finalise finalize \
    finish fit fix flush formulate forward found fumigate furnish gather generate grade graft grant grease harvest help hire host \
    identify implement import improve index inform inspect install instruct insulate integrate interview introduce inventory \
    investigate invite invoice isolate issue join label land laminate launch lend license list load locate lock log mail \
    manufacture map mark measure mend merge migrate milk model modify mop mount move mow negotiate notify number observe obtain \
    onboard open operate optimise optimize order organise organize oversee overhaul pack paint park patch perform phone photograph \
    pick pilot place plan plant plaster plate plough plow plug polish port post practise prepare present print procure process \
    produce programme promote proofread protect provide provision prune publish pump purchase pursue qualify quote race rack \
    re-measure reach rebook recall receive recharge reconcile reconfigure record recover recruit redesign refactor refill refit \
    refresh refund refurbish register rehearse reinstall reject relabel release reload relocate remind remove renegotiate renew \
    renovate rent reopen reorder reorganise reorganize repaint repair repeat replace replant reply repot reproduce request rescue \
    research reserve reset resolve restart restock restore retest retrieve retrofit return revert review revise \
    revisit roll rotate sample sand save scan schedule scrape scrub seal search secure select separate service settle sew share \
    shear ship shred sign simplify solve sort source split spray stack stage start sterilise sterilize stock store \
    strengthen strip study submit supply survey swap tag talk tape test thank thin tidy tile tow trace track train \
    transcribe transfer transplant translate transport treat trim troubleshoot tune type unblock unload unpack update upgrade \
    upload vacate vaccinate vacuum validate verify visit wash water weatherproof weed weigh weld whitewash wipe wire work wrap \
    clarify arrange brainstorm sketch prototype script render record dub screen audition cater plate \
    score coach tackle stretch jog warm lobby canvass petition campaign fundraise raise enforce file notarise depose \
    litigate serve redact catalogue catalog archive digitise digitize automate containerise instrument pair";

const IRREGULAR_DEEDS: &str = "\
    send:sent:sent write:wrote:written rewrite:rewrote:rewritten build:built:built rebuild:rebuilt:rebuilt buy:bought:bought \
    sell:sold:sold bring:brought:brought make:made:made take:took:taken give:gave:given put:put:put set:set:set run:ran:run \
    hold:held:held meet:met:met lead:led:led teach:taught:taught pay:paid:paid speak:spoke:spoken ring:rang:rung draw:drew:drawn \
    redraw:redrew:redrawn drive:drove:driven fly:flew:flown sow:sowed:sown dig:dug:dug lay:laid:laid shoot:shot:shot hang:hung:hung \
    feed:fed:fed win:won:won spend:spent:spent catch:caught:caught sweep:swept:swept begin:began:begun undertake:undertook:undertaken \
    withdraw:withdrew:withdrawn swim:swam:swum sing:sang:sung cut:cut:cut oversee:oversaw:overseen lend:lent:lent \
    show:showed:shown submit:submitted:submitted ship:shipped:shipped wind:wound:wound grind:ground:ground bind:bound:bound \
    proofread:proofread:proofread reset:reset:reset split:split:split hand:handed:handed";

const HARMS: &str = "\
    fail crash burst collapse crack leak expire overheat overrun stall choke corrupt flood jam malfunction rot wilt rust suffer \
    worsen deteriorate misplace mislabel overbook overflow vanish disappear bounce spoil damage injure breach contaminate \
    delay miss strand trip faint glitch degrade lag clog snap shatter block stop-working warp stain \
    infect poison cough";
const IRREGULAR_HARMS: &str = "\
    break:broke:broken lose:lost:lost fall:fell:fallen die:died:died steal:stole:stolen tear:tore:torn hurt:hurt:hurt \
    freeze:froze:frozen bleed:bled:bled strike:struck:struck burn:burnt:burnt forget:forgot:forgotten sink:sank:sunk slip:slipped:slipped";

const SHIFTS: &str = "\
    increase decrease reduce lower extend shorten expand shift postpone reschedule change switch rename double halve drop \
    adjust revise relocate triple trim-down bump defer advance push";
const IRREGULAR_SHIFTS: &str = "rise:rose:risen shrink:shrank:shrunk grow:grew:grown";

const IDLES: &str = "\
    seem appear happen belong contain consist depend exist own require remain stay want need like love hope wish believe remember \
    look live try use allow agree ask say tell mean know think feel see hear understand come become wait matter concern care \
    discuss mention worry wonder prefer enjoy hate expect suppose guess imagine decide promise learn notice realise realize \
    listen watch read laugh smile cry cost last suit resemble deserve include involve name sound taste smell \
    sit stand sleep walk let keep get go turn leave eat drink marry consider intend";
const IRREGULAR_IDLES: &str = "\
    do:did:done be:was:been have:had:had know:knew:known think:thought:thought feel:felt:felt see:saw:seen hear:heard:heard say:said:said \
    tell:told:told mean:meant:meant understand:understood:understood come:came:come become:became:become keep:kept:kept get:got:got \
    go:went:gone leave:left:left sit:sat:sat stand:stood:stood sleep:slept:slept eat:ate:eaten drink:drank:drunk find:found:found \
    let:let:let read:read:read wear:wore:worn lie:lay:lain choose:chose:chosen";

static FORMS: LazyLock<WordMap<String, Verb>> = LazyLock::new(|| {
    let mut forms = WordMap::default();
    // What is put in first stays: a word of two classes is the one named first here.
    for (class, irregular, regular) in [
        (Class::Idle, IRREGULAR_IDLES, IDLES),
        (Class::Harm, IRREGULAR_HARMS, HARMS),
        (Class::Shift, IRREGULAR_SHIFTS, SHIFTS),
        (Class::Deed, IRREGULAR_DEEDS, DEEDS),
    ] {
        for verb in irregular.split_whitespace() {
            let mut parts = verb.split(':');
            let (base, past, participle) = (
                parts.next().unwrap_or_default(),
                parts.next().unwrap_or_default(),
                parts.next().unwrap_or_default(),
            );
            put(&mut forms, class, base, |verb| verb.base = true);
            put(&mut forms, class, past, |verb| verb.past = true);
            put(&mut forms, class, participle, |verb| verb.participle = true);
            inflect(&mut forms, class, base, false);
        }
        for base in regular.split_whitespace() {
            put(&mut forms, class, base, |verb| verb.base = true);
            inflect(&mut forms, class, base, true);
        }
    }
    forms
});

fn put(forms: &mut WordMap<String, Verb>, class: Class, form: &str, mark: impl Fn(&mut Verb)) {
    let verb = forms.entry(form.to_owned()).or_insert(Verb {
        class,
        base: false,
        third: false,
        past: false,
        participle: false,
        ing: false,
    });
    if verb.class == class {
        mark(verb);
    }
}

/// The regular forms of a verb; of an irregular one only those in -s and -ing.
fn inflect(forms: &mut WordMap<String, Verb>, class: Class, base: &str, past: bool) {
    let bytes = base.as_bytes();
    let vowel = |c: u8| matches!(c, b'a' | b'e' | b'i' | b'o' | b'u');
    let length = bytes.len();
    let consonant_y = base.ends_with('y') && length > 2 && !vowel(bytes[length - 2]);
    let third = match () {
        () if consonant_y => format!("{}ies", &base[..length - 1]),
        () if base.ends_with(['s', 'x', 'o']) || base.ends_with("ch") || base.ends_with("sh") => {
            format!("{base}es")
        }
        () => format!("{base}s"),
    };
    put(forms, class, &third, |verb| verb.third = true);
    // «plan», «submit»: consonant, vowel, consonant doubles the last; harmless where it does not.
    let doubles = length > 2
        && !vowel(bytes[length - 1])
        && !matches!(bytes[length - 1], b'w' | b'x' | b'y')
        && vowel(bytes[length - 2])
        && !vowel(bytes[length - 3]);
    let mut stems = vec![base.strip_suffix('e').unwrap_or(base).to_owned()];
    if doubles {
        stems.push(format!("{base}{}", &base[length - 1..]));
    }
    for stem in stems {
        put(forms, class, &format!("{stem}ing"), |verb| verb.ing = true);
        if past {
            let stem = if consonant_y { format!("{}i", &base[..length - 1]) } else { stem };
            put(forms, class, &format!("{stem}ed"), |verb| {
                verb.past = true;
                verb.participle = true;
            });
        }
    }
}

/// What a word in lower case is as a verb.
pub(super) fn of(word: &str) -> Option<Verb> {
    FORMS.get(word).copied()
}

/// A form that can be the verb of a sentence without another before it.
pub(super) fn is_finite(word: &str) -> bool {
    matches!(
        word,
        "is" | "are"
            | "was"
            | "were"
            | "am"
            | "'m"
            | "'re"
            | "has"
            | "have"
            | "had"
            | "'ve"
            | "will"
            | "'ll"
            | "shall"
            | "would"
            | "could"
            | "should"
            | "can"
            | "may"
            | "might"
            | "must"
            | "does"
            | "do"
            | "did"
            | "ca"
            | "wo"
            | "cannot"
            | "cant"
            | "dont"
            | "wont"
            | "doesnt"
            | "didnt"
            | "isnt"
    ) || of(word).is_some_and(|verb| verb.past || verb.third)
        || (word.len() > 4 && word.ends_with("ed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_derived_from_their_base() {
        let past = |word| of(word).map(|verb| (verb.class, verb.past, verb.participle));
        assert_eq!(past("submitted"), Some((Class::Deed, true, true)));
        assert_eq!(past("carried"), Some((Class::Deed, true, true)));
        assert_eq!(past("wrote"), Some((Class::Deed, true, false)));
        assert_eq!(past("broken"), Some((Class::Harm, false, true)));
        assert_eq!(past("knew"), Some((Class::Idle, true, false)));
        assert!(of("finishes").is_some_and(|verb| verb.third && !verb.past));
        assert!(of("planning").is_some_and(|verb| verb.ing));
        assert!(of("budget").is_none());
    }
}
